import { setTimeout as delay } from 'node:timers/promises'
import {
  type Copy,
  type Feed,
  type Level,
  type Order,
  type OrderEntry,
  type Page,
  type Product,
  readCopy
} from './copy.ts'

/**
 * An ERP as another team writes it: from `docs/synchronise-an-erp.md` alone, over HTTP, without a line of the shop's code. It keeps
 * products, stock levels and orders in a database of its own.
 */
export type Erp = {
  /** Follows the shop until `isOver`, and then until nothing is new. */
  run(isOver: () => boolean): Promise<void>
  readonly counts: ErpCounts
}
type ErpCounts = {
  events: number
  /** Objects that were read because of an event. */
  reads: number
  /** Events whose `subject_version` the copy has already, so nothing is read. */
  known: number
  deleted: number
  /** Requests that the shop did not answer. */
  outages: number
  /** Times that the ERP ended between a page and its commit, and continued from its database. */
  crashes: number
  /** Responses that contradict the guide. */
  wrong: string[]
}
type Options = {
  origin: string
  token: string
  /** The database file. */
  file: string
  /** The share of pages after which the ERP ends before it stored them. */
  crashShare: number
}

const RETRY_MS = 250
const PAUSE_MS = 200
const TIMEOUT_MS = 20_000
const PAGE = 100
const READS_AT_ONCE = 4
const THE_BEGINNING = '1970-01-01T00:00:00Z'

/** A crash of the ERP, which loses all that is not in its database. */
class Crash extends Error {}

export function createErp({ origin, token, file, crashShare }: Options): Erp {
  const counts: ErpCounts = {
    events: 0,
    reads: 0,
    known: 0,
    deleted: 0,
    outages: 0,
    crashes: 0,
    wrong: []
  }

  /** Repeats the request until the shop answers. Returns undefined for 404. */
  async function get<T>(path: string): Promise<T | undefined> {
    for (;;) {
      const response = await fetch(`${origin}/api${path}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS)
      }).catch(() => undefined)
      if (response?.status === 404) return undefined
      const body = response?.ok === true ? await response.json().catch(() => undefined) : undefined
      if (body !== undefined) return body as T
      if (response !== undefined && response.status < 500 && response.status !== 429)
        throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
      counts.outages += 1
      await delay(RETRY_MS)
    }
  }
  async function mustGet<T>(path: string): Promise<T> {
    const found = await get<T>(path)
    if (found === undefined) throw new Error(`GET ${path}: 404`)
    return found
  }

  /** Reads every entry of a list that changed since a time, and from when the next poll reads. */
  async function readChanged<T>(path: string, since: string): Promise<{ items: T[]; next: string }> {
    const items: T[] = []
    let cursor: string | null = null
    for (;;) {
      const query = `updated_since=${encodeURIComponent(since)}&limit=${PAGE}`
      const page: Page<T> = await mustGet(
        `${path}?${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      )
      items.push(...page.items)
      cursor = page.next_cursor
      if (cursor === null) return { items, next: page.next_since ?? since }
    }
  }

  /** Reads objects by id, some simultaneously. Undefined: it was deleted. */
  async function readAll<T>(path: string, ids: readonly string[]): Promise<Map<string, T | undefined>> {
    const found = new Map<string, T | undefined>()
    const left = [...ids]
    const reader = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        found.set(id, await get<T>(`${path}/${id}`))
    }
    await Promise.all(Array.from({ length: READS_AT_ONCE }, reader))
    return found
  }

  /** Polls the list of orders, which has summaries only, and reads each order of which the copy has no such version. */
  async function readChangedOrders(copy: Copy, since: string): Promise<{ orders: Order[]; next: string }> {
    const { items, next } = await readChanged<OrderEntry>('/admin/orders', since)
    const versions = new Map<string, number>()
    for (const { id, version } of items) versions.set(id, Math.max(version, versions.get(id) ?? 0))
    const changed = [...versions].filter(([id, version]) => version > (copy.orderVersion(id) ?? -1))
    const read = await readAll<Order>(
      '/admin/orders',
      changed.map(([id]) => id)
    )
    const orders = [...read.values()].filter(order => order !== undefined)
    for (const { id, version } of orders)
      if (version < (versions.get(id) ?? 0))
        counts.wrong.push(`the list has version ${versions.get(id)}, and the order ${version}`)
    return { orders, next }
  }

  /** Reads the position first, so that a change during the copy is applied afterwards. */
  async function copyAll(copy: Copy): Promise<void> {
    const { latest_position: position } = await mustGet<Feed>('/admin/events/feed?limit=1')
    const products = await readChanged<{ id: string }>('/catalog/products', THE_BEGINNING)
    const details = await readAll<Product>(
      '/catalog/products',
      products.items.map(({ id }) => id)
    )
    const levels = await readChanged<Level>('/inventory/levels', THE_BEGINNING)
    const changed = await readChangedOrders(copy, THE_BEGINNING)
    copy.commit(() => {
      for (const product of details.values()) if (product !== undefined) copy.saveProduct(product)
      for (const level of levels.items) copy.saveLevel(level)
      for (const order of changed.orders) copy.saveOrder(order)
      copy.setCursor('levels', levels.next)
      copy.setCursor('orders', changed.next)
      copy.setCursor('feed', String(position))
    })
  }

  /** Applies one page of the log. Returns whether it had events. */
  async function followFeed(copy: Copy): Promise<boolean> {
    const after = copy.cursor('feed')
    const page = await mustGet<Feed>(`/admin/events/feed?after=${after}&limit=${PAGE}`)
    counts.events += page.items.length
    const products = new Set<string>()
    const orders = new Set<string>()
    for (const [at, event] of page.items.entries()) {
      if (event.payload_version !== 1) throw new Error(`${event.name} has an unknown format`)
      if (event.position !== Number(after) + at + 1) counts.wrong.push(`a gap before ${event.position}`)
      const kind =
        { 'catalog.product_changed': products }[event.name] ??
        (event.name.startsWith('orders.') ? orders : undefined)
      if (kind === undefined) continue
      const stored = kind === products ? copy.productVersion(event.subject) : copy.orderVersion(event.subject)
      if (event.subject_version !== null && stored !== undefined && stored >= event.subject_version)
        counts.known += 1
      else kind.add(event.subject)
    }
    const readProducts = await readAll<Product>('/catalog/products', [...products])
    const readOrders = await readAll<Order>('/admin/orders', [...orders])
    counts.reads += readProducts.size + readOrders.size
    for (const event of page.items) {
      const read = readProducts.get(event.subject) ?? readOrders.get(event.subject)
      if (read !== undefined && event.subject_version !== null && read.version < event.subject_version)
        counts.wrong.push(
          `${event.name} has version ${event.subject_version}, and the object ${read.version}`
        )
    }
    crashSometimes()
    copy.commit(() => {
      for (const [id, product] of readProducts)
        if (product === undefined) counts.deleted += copy.deleteProduct(id)
        else copy.saveProduct(product)
      for (const order of readOrders.values()) if (order !== undefined) copy.saveOrder(order)
      copy.setCursor('feed', String(page.next_after))
    })
    return page.items.length > 0
  }

  /** Polls what has no event of its own: stock, and changes of orders such as notes. */
  async function poll(copy: Copy): Promise<void> {
    const levels = await readChanged<Level>('/inventory/levels', copy.cursor('levels') ?? THE_BEGINNING)
    const changed = await readChangedOrders(copy, copy.cursor('orders') ?? THE_BEGINNING)
    crashSometimes()
    copy.commit(() => {
      for (const level of levels.items) copy.saveLevel(level)
      for (const order of changed.orders) copy.saveOrder(order)
      copy.setCursor('levels', levels.next)
      copy.setCursor('orders', changed.next)
    })
  }

  function crashSometimes(): void {
    if (Math.random() < crashShare) throw new Crash()
  }

  /** One life of the ERP: it knows what its database knows. */
  async function live(isOver: () => boolean): Promise<void> {
    using copy = readCopy(file)
    if (copy.cursor('feed') === undefined) await copyAll(copy)
    for (;;) {
      const wasOver = isOver()
      while (await followFeed(copy));
      await poll(copy)
      if (wasOver && !(await followFeed(copy))) return
      await delay(PAUSE_MS)
    }
  }

  return {
    counts,
    run: async isOver => {
      for (;;) {
        try {
          return await live(isOver)
        } catch (error) {
          if (!(error instanceof Crash)) throw error
          counts.crashes += 1
        }
      }
    }
  }
}
