import type pg from 'pg'
import type { BackupTableHeader } from './archive.ts'

/** Lists tables with their columns, except generated ones. A partitioned table stands for its partitions. */
const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as table,
    (select json_agg(quote_ident(a.attname) order by a.attnum) from pg_attribute a
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1) and (n.nspname, c.relname) <> ('cartwright', 'migrations')
  order by 1`
const REFERENCES = `
  select format('%I.%I', fn.nspname, f.relname) as table, format('%I.%I', tn.nspname, t.relname) as other
  from pg_constraint c
  join pg_class f on f.oid = c.conrelid
  join pg_namespace fn on fn.oid = f.relnamespace
  join pg_class t on t.oid = c.confrelid
  join pg_namespace tn on tn.oid = t.relnamespace
  where c.contype = 'f' and c.conrelid <> c.confrelid and fn.nspname = any($1)`
const SEQUENCES = `
  select format('%I.%I', n.nspname, c.relname) as name,
    exists (
      select from pg_depend d
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i') and d.refobjsubid > 0
    ) as is_of_column
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'S' and n.nspname = any($1)
  order by 1`

/** Returns the tables of these schemas, each after the tables that it references, so that rows can be inserted in order. */
export async function listTablesByReferences(
  client: pg.Client,
  schemas: readonly string[]
): Promise<BackupTableHeader[]> {
  const { rows: tables } = await client.query<BackupTableHeader>(TABLES, [schemas])
  const { rows: references } = await client.query<{ table: string; other: string }>(REFERENCES, [schemas])
  const ordered = new Map<string, BackupTableHeader>()
  const visit = (head: BackupTableHeader, from: readonly string[]) => {
    if (ordered.has(head.table)) return
    if (from.includes(head.table)) throw new Error(`tables refer to each other: ${from.join(', ')}`)
    for (const { table, other } of references) {
      const next = table === head.table ? tables.find(each => each.table === other) : undefined
      if (next !== undefined) visit(next, [...from, head.table])
    }
    ordered.set(head.table, head)
  }
  for (const head of tables) visit(head, [])
  return [...ordered.values()]
}

type Sequence = {
  readonly name: string
  /**
   * Whether the values of the sequence fill a column of existing rows. Otherwise they leave the database, such as order
   * numbers.
   */
  readonly is_of_column: boolean
}

export async function listSequences(client: pg.Client, schemas: readonly string[]): Promise<Sequence[]> {
  return (await client.query<Sequence>(SEQUENCES, [schemas])).rows
}
