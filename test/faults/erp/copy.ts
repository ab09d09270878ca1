import { DatabaseSync } from 'node:sqlite'

// The fields of the shop's responses that the ERP keeps.

export type Product = {
  id: string
  version: number
  slug: string
  name: string
  status: string
  variants: { id: string; sku: string | null; price: number | null }[]
}
export type Level = {
  variant_id: string
  location: string
  seq: number
  on_hand: number
  reserved: number
  safety: number
}
/** An entry of the list of orders: it names what changed, and only the order itself is stored. */
export type OrderEntry = { id: string; version: number }
export type Order = OrderEntry & {
  number: string
  status: string
  payment_status: string | null
  fulfillment_status: string
  total: number
  items: {
    id: number
    variant_id: string
    quantity: number
    canceled: number
    fulfilled: number
    returned: number
    refunded: number
    line_total: number
  }[]
  shipments: {
    id: string
    lines: { line: number; quantity: number }[]
    voided_at: string | null
  }[]
  adjustments: {
    id: string
    kind: string
    amount: number
    parts: { item: number | null; units: number; amount: number }[]
  }[]
}
export type Page<T> = { items: T[]; next_cursor: string | null; next_since?: string }
export type Feed = {
  items: {
    position: number
    name: string
    subject: string
    subject_version: number | null
    payload_version: number
  }[]
  next_after: number
  latest_position: number
}

/** The ERP's database. A row with a version is replaced by a higher one only. */
export type Copy = Disposable & {
  commit(work: () => void): void
  cursor(name: string): string | undefined
  setCursor(name: string, value: string): void
  productVersion(id: string): number | undefined
  orderVersion(id: string): number | undefined
  saveProduct(product: Product): void
  deleteProduct(id: string): number
  saveLevel(level: Level): void
  saveOrder(order: Order): void
  /** All rows of a table, as text, sorted. */
  rows(table: 'products' | 'levels' | 'orders'): string[]
}

/** A product as one line of text, to compare copies. */
export const productText = ({ id, version, slug, name, status, variants }: Product): string =>
  JSON.stringify([
    id,
    version,
    slug,
    name,
    status,
    variants
      .map(({ id: variant, sku, price }) => [variant, sku, price])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  ])
export const levelText = ({ variant_id, location, seq, on_hand, reserved, safety }: Level): string =>
  JSON.stringify([variant_id, location, seq, on_hand, reserved, safety])
export const orderText = (order: Order): string =>
  JSON.stringify([
    order.id,
    order.version,
    order.number,
    order.status,
    order.payment_status,
    order.fulfillment_status,
    order.total,
    order.items.map(each => [
      each.id,
      each.variant_id,
      each.quantity,
      each.canceled,
      each.fulfilled,
      each.returned,
      each.refunded,
      each.line_total
    ]),
    order.shipments.map(({ id, lines, voided_at }) => [id, lines, voided_at]),
    order.adjustments.map(({ id, kind, amount, parts }) => [
      id,
      kind,
      amount,
      parts.map(part => [part.item, part.units, part.amount])
    ])
  ])

export function readCopy(file: string): Copy {
  const db = new DatabaseSync(file)
  db.exec(`
    pragma journal_mode = wal; pragma synchronous = off;
    create table if not exists cursors (name text primary key, value text not null);
    create table if not exists products (id text primary key, version int not null, content text not null);
    create table if not exists levels (id text primary key, version int not null, content text not null);
    create table if not exists orders (id text primary key, version int not null, content text not null)`)
  const upsert = (table: string) =>
    db.prepare(`
      insert into ${table} (id, version, content) values (?, ?, ?)
      on conflict (id) do update set version = excluded.version, content = excluded.content
      where excluded.version > ${table}.version`)
  const [products, levels, orders] = [upsert('products'), upsert('levels'), upsert('orders')]
  const versionIn = (table: string) => {
    const statement = db.prepare(`select version from ${table} where id = ?`)
    return (id: string) => (statement.get(id) as { version: number } | undefined)?.version
  }
  const findCursor = db.prepare('select value from cursors where name = ?')
  const saveCursor = db.prepare('insert or replace into cursors (name, value) values (?, ?)')
  const removeProduct = db.prepare('delete from products where id = ?')
  return {
    commit: work => {
      db.exec('begin immediate')
      try {
        work()
        db.exec('commit')
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    cursor: name => (findCursor.get(name) as { value: string } | undefined)?.value,
    setCursor: (name, value) => void saveCursor.run(name, value),
    productVersion: versionIn('products'),
    orderVersion: versionIn('orders'),
    saveProduct: product => void products.run(product.id, product.version, productText(product)),
    deleteProduct: id => Number(removeProduct.run(id).changes),
    saveLevel: level => void levels.run(`${level.variant_id} ${level.location}`, level.seq, levelText(level)),
    saveOrder: order => void orders.run(order.id, order.version, orderText(order)),
    rows: table =>
      (db.prepare(`select content from ${table} order by content`).all() as { content: string }[]).map(
        ({ content }) => content
      ),
    [Symbol.dispose]: () => db.close()
  }
}
