import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { ContractShop } from '../contract/world.ts'

/** The rows of an earlier version, as `test/stored-rows.json` holds them. */
export type StoredRows = {
  /** Keyed requests, their rows, and what was answered. */
  keys: StoredKey[]
  /** Requests whose responses hold a secret and are not stored, with the ids of what they made. */
  registration: StoredRetry & { verificationId: string }
  paymentIntent: StoredRetry & { orderId: string }
  /** One for each handler and form of its payload. Ids of rows are written as the table: `{orders.orders}`. */
  jobs: StoredJob[]
}
export type StoredKey = {
  name: string
  request: StoredRequest
  row: Record<string, string | number | null>
  status: number
  response: unknown
}
type StoredRetry = Pick<StoredKey, 'request' | 'row'>
export type StoredRequest = {
  method: string
  url: string
  caller: 'admin' | 'customer' | null
  headers: Record<string, string>
  body: string
}
export type StoredJob = {
  handler: string
  subject: string
  payload: Record<string, unknown>
  /** The row of a schedule, of which there is one. */
  isSchedule?: true
}

export const ROWS_FILE = new URL('../stored-rows.json', import.meta.url)
export const readStoredRows = async (): Promise<StoredRows> => JSON.parse(await readFile(ROWS_FILE, 'utf8'))

/** The columns of a recorded key row. `bytea` is written as base64; leases and times are set by the test. */
export const KEY_COLUMNS = {
  key_hash: 'bytea',
  fingerprint: 'bytea',
  state: 'text',
  operation_id: 'uuid',
  result_id: 'uuid',
  status: 'int',
  answer: 'bytea'
} as const

/** Columns that have another name in this version, by the recorded one. */
const RENAMED_COLUMNS: Readonly<Record<string, string>> = {}
/** Tables of ids in payloads that have another name in this version, by the recorded one. */
export const RENAMED_TABLES: Readonly<Record<string, string>> = {}

const columnNow = (name: string) => RENAMED_COLUMNS[name] ?? name
/** How the event ids of stored jobs begin. */
const STORED = '5702ed'

const CALLERS = {
  admin: '5702ed00-0000-7000-8000-00000000000a',
  customer: '5702ed00-0000-7000-8000-00000000000c'
}

/** Inserts a copy of a row with other values in some columns. */
export async function copyRow(
  { sql }: Pick<ContractShop, 'sql'>,
  table: string,
  id: string,
  changes: object
): Promise<void> {
  const rows = await sql(
    `select column_name as name from information_schema.columns
     where table_schema || '.' || table_name = $1 and is_generated = 'NEVER'`,
    [table]
  )
  const columns = rows.map(({ name }) => name).join(', ')
  await sql(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table},
       (select to_jsonb(original) from ${table} original where id = $1) || $2::jsonb)`,
    [id, JSON.stringify(changes)]
  )
}

/** Adds an administrator and a customer whose ids are always the same, because an id is part of the hash of a key. */
export async function enterCallers({ sql, logIn, request, ada, boss }: ContractShop) {
  const copies = [
    [boss, { id: CALLERS.admin, email: 'admin@stored.example' }],
    [ada.id, { id: CALLERS.customer, email: 'customer@stored.example' }]
  ] as const
  for (const [original, changes] of copies) await copyRow({ sql }, 'auth.users', original, changes)
  const tokens = {
    admin: await logIn('admin@stored.example'),
    customer: await logIn('customer@stored.example')
  }
  await sql(`update auth.sessions set created_at = now() + interval '1 day'`)
  return {
    id: CALLERS,
    as: tokens,
    send: ({ method, url, caller, headers, body }: StoredRequest) =>
      request(method, url, {
        headers: { 'content-type': 'application/json', ...headers },
        body,
        ...(caller !== null && { token: tokens[caller] })
      })
  }
}
export type Callers = Awaited<ReturnType<typeof enterCallers>>

/** Inserts the row of a keyed request into the table of this version. */
export async function insertKey({ sql }: Pick<ContractShop, 'sql'>, row: StoredKey['row']) {
  const columns = Object.keys(KEY_COLUMNS) as (keyof typeof KEY_COLUMNS)[]
  const values = columns.map((name, index) =>
    KEY_COLUMNS[name] === 'bytea' ? `decode($${index + 1}, 'base64')` : `$${index + 1}::${KEY_COLUMNS[name]}`
  )
  await sql(
    `insert into cartwright.idempotency_keys
       (${columns.map(columnNow).join(', ')}, ${['lease', 'lease_until', 'expires_at'].map(columnNow).join(', ')})
     values (${values.join(', ')}, gen_random_uuid(), now() - interval '1 second', now() + interval '1 day')`,
    columns.map(name => row[name])
  )
}

/**
 * Inserts jobs, each with an event id of its own that begins with `STORED`. Those of `times` two are delivered twice with the
 * same event id. A schedule takes the place of the row that this version planned, as if its last run had not ended, so that
 * it runs without work, too.
 */
export async function insertJobs(
  { sql }: Pick<ContractShop, 'sql'>,
  jobs: readonly StoredJob[],
  { times = 1, idOf }: { times?: number; idOf: (table: string) => string }
): Promise<string[]> {
  const eventIds: string[] = []
  const columns = ['handler', 'subject', 'event_id', 'payload'].map(columnNow).join(', ')
  for (const stored of jobs) {
    const job = JSON.parse(
      JSON.stringify(stored).replace(/\{([a-z_]+\.[a-z_]+)\}/g, (_all, table: string) => idOf(table))
    )
    const eventId = STORED + newId().slice(STORED.length)
    eventIds.push(eventId)
    const values = [job.handler, job.subject, eventId, JSON.stringify(job.payload)]
    if (stored.isSchedule === true) {
      await sql(
        `insert into cartwright.jobs (id, ${columns}, attempts) values (0, $1, $2, $3, $4, 1)
         on conflict (subject, handler, id) do update set event_id = $3, due_at = now(), attempts = 1`,
        values
      )
      continue
    }
    for (let time = 0; time < times; time += 1)
      await sql(`insert into cartwright.jobs (${columns}) values ($1, $2, $3, $4)`, values)
  }
  return eventIds
}

/** Only stored rows of these handlers are inserted from now on, so that an effect is theirs. */
export async function leaveToStored(
  { sql }: Pick<ContractShop, 'sql'>,
  handlers: readonly string[]
): Promise<void> {
  await sql(`create or replace function public.is_stored() returns trigger language plpgsql as $$ begin
    if new.event_id::text like '${STORED}%' then return new; else return null; end if; end $$`)
  await sql(
    `create trigger is_stored before insert on cartwright.jobs for each row
     when (new.id > 0 and new.handler in (${handlers.map(each => `'${each}'`).join(', ')})) execute function public.is_stored()`
  )
}

/** Waits until each of these jobs was handled: it is deleted, or a schedule that is planned again. */
export const handledAll = ({ sql }: Pick<ContractShop, 'sql'>, eventIds: readonly string[]) =>
  expect
    .poll(
      () =>
        sql(
          'select handler, payload, error from cartwright.jobs where event_id = any ($1) order by handler',
          [eventIds]
        ),
      { timeout: 60_000, interval: 100 }
    )
    .toEqual([])
