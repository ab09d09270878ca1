import { type MountedRoute, requestPath } from '../routing/routes.ts'
import type { RequestClass } from '../routing/tiers.ts'

/** By priority, highest first. */
export const REQUEST_CLASSES = [
  'checkout',
  'account',
  'browse',
  'bulk'
] as const satisfies readonly RequestClass[]

/** A request gets a response within this time. A bulk request may take longer while it makes progress. */
export const REQUEST_DEADLINES_MS = {
  checkout: 15_000,
  account: 5_000,
  browse: 2_000,
  bulk: 10_000
} as const satisfies Record<RequestClass, number>

type PathNode = {
  children: Map<string, PathNode>
  any: PathNode | undefined
  classes: Map<string, RequestClass>
}
const createPathNode = (): PathNode => ({ children: new Map(), any: undefined, classes: new Map() })

/**
 * Creates a lookup of the class of a request before routing, as a tree of path segments. It returns `undefined` for
 * diagnostics, disabled modules and unknown paths.
 */
export function createRequestClassLookup(mounted: readonly MountedRoute[]) {
  const root = createPathNode()
  for (const route of mounted) {
    if (route.class === null || !route.hasTier) continue
    const node = route.url.split('/').reduce(childOf, root)
    for (const method of [route.method].flat()) node.classes.set(method, route.class)
  }

  return function classOf(method: string, target: string): RequestClass | undefined {
    const path = requestPath(target)
    let node: PathNode | undefined = root
    for (let start = 0; start <= path.length; ) {
      const slash = path.indexOf('/', start)
      const end = slash < 0 ? path.length : slash
      node = node.children.get(path.slice(start, end)) ?? (end === start ? undefined : node.any)
      if (node === undefined) return undefined
      start = end + 1
    }
    return node.classes.get(method)
  }
}

function childOf(node: PathNode, segment: string): PathNode {
  if (segment.startsWith(':')) {
    node.any ??= createPathNode()
    return node.any
  }
  const known = node.children.get(segment) ?? createPathNode()
  node.children.set(segment, known)
  return known
}
