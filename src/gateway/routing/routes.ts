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
}
const UNSAFE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** Whether a route may change something (RFC 9110, section 9.2.1). */
export const isUnsafe = (method: string | string[]): boolean =>
  [method].flat().some(each => UNSAFE_METHODS.has(each))

type Claim = { name: string; basePaths: readonly string[] }

/** The path that a request asks for: without origin and query, decoded as far as its segments stay what they are. */
export function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** The module whose base paths cover `path`; the longest prefix wins. */
export function ownerOf(path: string, modules: readonly Claim[]): string | undefined {
  const claims = modules.flatMap(({ name, basePaths }) => basePaths.map(base => ({ name, base })))
  const fitting = claims.filter(({ base }) => isBelow(path, base))
  return fitting.sort((a, b) => depthOf(b.base) - depthOf(a.base))[0]?.name
}

/** Routes that would escape what is promised for all: the 503 of a module switched off, or the checks of a tier. */
export function routeProblems(mounted: readonly MountedRoute[], modules: readonly Claim[]): string[] {
  const owned = mounted.filter(({ owner, url }) => owner !== null && !isBelow(url, '/.well-known'))
  const outside = owned.filter(({ owner, url }) => ownerOf(url, modules) !== owner)
  const withoutTier = owned.filter(({ hasTier }) => !hasTier)
  const withoutClass = mounted.filter(route => route.owner !== null && route.class === null)
  const problems = [
    ...outside.map(({ owner, url }) => `module ${owner} mounts ${url}, which is outside its base paths`),
    ...withoutTier.map(({ owner, url }) => `module ${owner} mounts ${url} without a tier`),
    ...withoutClass.map(({ url }) => `route ${url} has no class`)
  ]
  return [...new Set(problems)]
}

/** The methods that some route at this path knows, sorted; empty when no route is there. */
export function allowedMethods(mounted: readonly MountedRoute[], path: string): string[] {
  const methods = mounted
    .filter(({ url }) => isBelow(path, url) && depthOf(path) === depthOf(url))
    .flatMap(({ method }) => method)
  return [...new Set(methods)].sort()
}

const depthOf = (path: string) => path.split('/').length

/** Whether `path` is `base` or lies below it; a `:name` in the base stands for any one segment. */
function isBelow(path: string, base: string): boolean {
  const segments = path.split('/')
  return base.split('/').every((part, index) => {
    const segment = segments[index]
    return part.startsWith(':') ? Boolean(segment) : part === segment
  })
}
