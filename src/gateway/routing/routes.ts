import type { RequestClass } from './tiers.ts'

/** A mounted route. `owner` is the module that mounted it; `null` for routes of the gateway. */
export type MountedRoute = {
  method: string | string[]
  url: string
  owner: string | null
  /** Class of the route's requests; `null` for routes of the gateway, which are never refused. */
  class: RequestClass | null
  /** Whether the route was mounted on a tier, whose checks apply then. */
  hasTier: boolean
  /** Parts of the route's body schema without a maximum. */
  unbounded: readonly string[]
}
const UNSAFE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** Whether a method is unsafe (RFC 9110, section 9.2.1). */
export const isUnsafeMethod = (method: string | string[]): boolean =>
  [method].flat().some(each => UNSAFE_METHODS.has(each))

type BasePathOwner = { name: string; basePaths: readonly string[] }

/** Returns the path of a request target, without origin and query, decoded except for reserved characters. */
export function requestPath(target: string): string {
  const end = target.search(/[?#]/)
  const named = end < 0 ? target : target.slice(0, end)
  // Fast path: most targets are plain.
  if (named.startsWith('/') && !named.includes('%')) return named
  const path = named.replace(/^https?:\/\/[^/]*/i, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Returns a function from a path to the module whose base path covers it; the longest base path wins. */
export function createModuleByPathLookup(
  modules: readonly BasePathOwner[]
): (path: string) => string | undefined {
  const bases = modules
    .flatMap(({ name, basePaths }) => basePaths.map(base => ({ name, parts: base.split('/') })))
    .sort((a, b) => b.parts.length - a.parts.length)
  return path => {
    const segments = path.split('/')
    return bases.find(({ parts }) => startsWith(segments, parts))?.name
  }
}

/** Returns routes without a tier, class or body limit, and routes outside the base paths of their module. */
export function findRouteProblems(
  mounted: readonly MountedRoute[],
  modules: readonly BasePathOwner[]
): string[] {
  const owned = mounted.filter(({ owner, url }) => owner !== null && !url.startsWith('/.well-known/'))
  const ownerOf = createModuleByPathLookup(modules)
  const outside = owned.filter(({ owner, url }) => ownerOf(url) !== owner)
  const withoutTier = owned.filter(({ hasTier }) => !hasTier)
  const withoutClass = mounted.filter(route => route.owner !== null && route.class === null)
  const unbounded = mounted.flatMap(({ method, url, unbounded: parts }) =>
    parts.map(part => `${[method].flat()[0]} ${url} takes a body without a maximum: ${part}`)
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
 * Returns a function from a path to its sorted methods; none when no route matches. Patterns are split once, because
 * splitting them for each unknown path made a 404 cost twice as much as /healthz (2026-11).
 */
export function createMethodsOfPath(mounted: readonly MountedRoute[]) {
  const patterns = [...Map.groupBy(mounted, ({ url }) => url)].map(([url, routes]) => ({
    parts: url.split('/'),
    methods: routes.flatMap(({ method }) => method)
  }))
  const byDepth = Map.groupBy(patterns, ({ parts }) => parts.length)
  // Rejects most paths of scanners without comparing patterns.
  const beginnings = new Set(patterns.map(({ parts }) => parts[1]))

  return (path: string): string[] => {
    const segments = path.split('/')
    if (!beginnings.has(segments[1])) return []
    const fitting = byDepth.get(segments.length)?.filter(({ parts }) => startsWith(segments, parts)) ?? []
    return [...new Set(fitting.flatMap(({ methods }) => methods))].sort()
  }
}

/** Whether a path is at or below a base; a `:name` in the base matches any segment. */
const startsWith = (segments: readonly string[], base: readonly string[]): boolean =>
  base.every((part, index) => (part.startsWith(':') ? Boolean(segments[index]) : part === segments[index]))
