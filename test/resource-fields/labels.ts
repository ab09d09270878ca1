import { extendResource, type FieldAudience, type Resource } from '../../src/kernel/resources.ts'
import { type TSchema, Type } from '../../src/kernel/schema.ts'
import { defineModule, type Module, provideField } from '../../src/module.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import type { TestShop } from '../../src/testing.ts'

const upsertLabel = statement({
  name: 'labels.upsert_label',
  takes: { name: 'text', id: 'uuid', value: 'text?' },
  text: `
    insert into labels.values (name, id, value) values ($name, $id, $value)
    on conflict (name, id) do update set value = excluded.value`
})
const listLabels = statement({
  name: 'labels.list_labels',
  takes: { name: 'text', ids: 'uuid[]' },
  gives: { id: 'uuid', value: 'text?' },
  text: 'select id, value from labels.values where name = $name and id = any($ids)'
})

type Extended = {
  resource: Resource
  audience: FieldAudience
  field?: string
  schema?: TSchema
  isWritten?: boolean
  /** Replaces the values in the table. */
  load?: (ids: readonly string[]) => Promise<readonly unknown[]>
}

/** A module that only tests know. It adds fields with values in a table, and records what it loads and writes. */
export function createLabels(...extended: Extended[]) {
  const loads: (readonly string[])[] = []
  const writes: unknown[][] = []
  const state = { failsToWrite: false }
  const fields = extended.map(({ resource, audience, field = 'label', schema }) =>
    extendResource(resource, {
      field,
      schema: schema ?? Type.String({ maxLength: 20 }),
      ...(audience === 'public' ? { audience, purgedBy: 'expiry' } : { audience })
    })
  )
  const module: Module = defineModule({
    name: 'labels',
    description: 'Labels.',
    basePaths: [],
    requires: {},
    uses: {},
    extends: fields,
    setup: async ({ db }) => ({
      api: {},
      fields: fields.map((declared, index) => {
        const { isWritten = false, load } = extended[index] as Extended
        const { field: name } = declared
        return provideField<unknown>(declared, {
          load: async ids => {
            loads.push(ids)
            if (load !== undefined) return load(ids)
            const rows = await db.rows(listLabels, { name, ids })
            return ids.map(id => rows.find(row => row.id === id)?.value ?? null)
          },
          ...(isWritten && {
            write: async (tx, id, value) => {
              writes.push([id, value])
              await tx.run(upsertLabel, { name, id, value: value as string | null })
              if (state.failsToWrite) throw new Error('no labels today')
            }
          })
        })
      })
    })
  })
  return {
    module,
    state,
    /** The ids of each load since the last call. */
    loads: () => loads.splice(0),
    writes: () => writes.splice(0)
  }
}

export const CREATE_LABEL_TABLE =
  'create schema labels; create table labels.values (name text, id uuid, value text, primary key (name, id))'
/** Creates the table of the labels. */
export const createLabelTable = (shop: Pick<TestShop, 'sql'>) => shop.sql(CREATE_LABEL_TABLE)
export const setLabel = (shop: Pick<TestShop, 'sql'>, id: string, value: string, name = 'label') =>
  shop.sql(
    'insert into labels.values values ($1, $2, $3) on conflict (name, id) do update set value = excluded.value',
    [name, id, value]
  )
