import type { RequestClass } from './tiers.ts'

/** A route as it was mounted, and the module that did it; `null` for the gateway's own. */
export type MountedRoute = {
  method: string | string[]
  url: string
  owner: string | null
  /** What it is for; `null` for the gateway's own, which always answer. */
  class: RequestClass | null
  /** Whether it lies in one of the tiers, and so behind their checks. */
  hasTier: boolean
  /** Parts of the schema of its body that have no maximum. */
  lacks: readonly string[]
}
const UNSAFE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** Whether a route may change something (RFC 9110, section 9.2.1). */
export const isUnsafe = (method: string | string[]): boolean =>
  [method].flat().some(each => UNSAFE_METHODS.has(each))

type Claim = { name: string; basePaths: readonly string[] }

/** The path that a request asks for: without origin and query, decoded as far as its segments stay what they are. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/)
  const named = end < 0 ? target : target.slice(0, end)
  // Most are plain, and looking is cheaper than taking them apart.
  if (named.startsWith('/') && !named.includes('%')) return named
  const path = named.replace(/^https?:\/\/[^/]*/i, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Of a path the module whose base paths cover it; the longest prefix wins. */
export function ownersOf(modules: readonly Claim[]): (path: string) => string | undefined {
  const claims = modules
    .flatMap(({ name, basePaths }) => basePaths.map(base => ({ name, parts: base.split('/') })))
    .sort((a, b) => b.parts.length - a.parts.length)
  return path => {
    const segments = path.split('/')
    return claims.find(({ parts }) => startsWith(segments, parts))?.name
  }
}

/** Routes that would escape what is promised for all: the 503 of a module switched off, or the checks of a tier. */
export function routeProblems(mounted: readonly MountedRoute[], modules: readonly Claim[]): string[] {
  const owned = mounted.filter(({ owner, url }) => owner !== null && !url.startsWith('/.well-known/'))
  const ownerOf = ownersOf(modules)
  const outside = owned.filter(({ owner, url }) => ownerOf(url) !== owner)
  const withoutTier = owned.filter(({ hasTier }) => !hasTier)
  const withoutClass = mounted.filter(route => route.owner !== null && route.class === null)
  const unbounded = mounted.flatMap(({ method, url, lacks }) =>
    lacks.map(lack => `${[method].flat()[0]} ${url} takes a body without a maximum: ${lack}`)
  )
  const problems = [
    ...outside.map(({ owner, url }) => `module ${owner} mounts ${url}, which is outside its base paths`),
    ...withoutTier.map(({ owner, url }) => `module ${owner} mounts ${url} without a tier`),
    ...withoutClass.map(({ url }) => `route ${url} has no class`),
    ...unbounded
  ]
  return [...new Set(problems)]
}

/**
 * The methods that some route at a path knows, sorted; empty when no route is there. Patterns are taken apart once:
 * to do so for each unknown path made its 404 cost twice what an answer of /healthz does (2026-11).
 */
export function createAllowedMethods(mounted: readonly MountedRoute[]) {
  const patterns = [...Map.groupBy(mounted, ({ url }) => url)].map(([url, routes]) => ({
    parts: url.split('/'),
    methods: routes.flatMap(({ method }) => method)
  }))
  const byDepth = Map.groupBy(patterns, ({ parts }) => parts.length)
  // All begin with a word, and whoever looks for holes asks for others.
  const beginnings = new Set(patterns.map(({ parts }) => parts[1]))

  return (path: string): string[] => {
    const segments = path.split('/')
    if (!beginnings.has(segments[1])) return []
    const fitting = byDepth.get(segments.length)?.filter(({ parts }) => startsWith(segments, parts)) ?? []
    return [...new Set(fitting.flatMap(({ methods }) => methods))].sort()
  }
}

/** Whether a path lies at or below a base; a `:name` in the base stands for any one segment. */
const startsWith = (segments: readonly string[], base: readonly string[]): boolean =>
  base.every((part, index) => (part.startsWith(':') ? Boolean(segments[index]) : part === segments[index]))
