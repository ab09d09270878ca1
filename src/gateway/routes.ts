/** A route as it was mounted, and the module that did it; `null` for the gateway's own. */
export type MountedRoute = { method: string | string[]; url: string; owner: string | null }
type Claim = { name: string; basePaths: readonly string[] }

const isBelow = (url: string, base: string) => url === base || url.startsWith(`${base}/`)

/** The module whose base paths cover `url`; the longest prefix wins. */
export function ownerOf(url: string, modules: readonly Claim[]): string | undefined {
  const claims = modules.flatMap(({ name, basePaths }) => basePaths.map(path => ({ name, path })))
  const fitting = claims
    .filter(({ path }) => isBelow(url, path))
    .sort((a, b) => b.path.length - a.path.length)
  return fitting[0]?.name
}

/** Routes that lie outside the base paths of their module: a module switched off would not answer for them. */
export function checkBasePaths(mounted: readonly MountedRoute[], modules: readonly Claim[]): string[] {
  return mounted
    .filter(({ owner, url }) => owner !== null && url.startsWith('/api') && ownerOf(url, modules) !== owner)
    .map(({ owner, url }) => `module ${owner} mounts ${url}, which is outside its base paths`)
}

/** The methods that some route at this path knows, sorted; empty when no route is there. */
export function allowedMethods(mounted: readonly MountedRoute[], url: string): string[] {
  const path = url.split('?', 1)[0] ?? ''
  const methods = mounted.filter(route => matches(route.url, path)).flatMap(route => route.method)
  return [...new Set(methods)].sort()
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  )
}
