import { type MountedRoute, pathOf } from '../routing/routes.ts'
import type { RequestClass } from '../routing/tiers.ts'

/** Who goes first when there is too much to do. */
export const CLASSES = ['checkout', 'account', 'browse', 'bulk'] as const satisfies readonly RequestClass[]

/** A request is answered by then; one of `bulk` may take longer as long as it gets on. */
export const DEADLINE_MS = {
  checkout: 15_000,
  account: 5_000,
  browse: 2_000,
  bulk: 10_000
} as const satisfies Record<RequestClass, number>

type Node = { children: Map<string, Node>; any: Node | undefined; classes: Map<string, RequestClass> }
const createNode = (): Node => ({ children: new Map(), any: undefined, classes: new Map() })

/**
 * The class of a request before the router has seen it: a tree of the segments of all mounted routes. `undefined` for
 * whatever has none, such as diagnostics, modules that are switched off, and paths where nothing is.
 */
export function createClassTable(mounted: readonly MountedRoute[]) {
  const root = createNode()
  for (const route of mounted) {
    if (route.class === null || !route.hasTier) continue
    const node = route.url.split('/').reduce(childOf, root)
    for (const method of [route.method].flat()) node.classes.set(method, route.class)
  }

  return function classOf(method: string, target: string): RequestClass | undefined {
    const path = pathOf(target)
    let node: Node | undefined = root
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

function childOf(node: Node, segment: string): Node {
  if (segment.startsWith(':')) {
    node.any ??= createNode()
    return node.any
  }
  const known = node.children.get(segment) ?? createNode()
  node.children.set(segment, known)
  return known
}
