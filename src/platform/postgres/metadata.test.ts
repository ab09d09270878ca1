import fc from 'fast-check'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../test/support/database.ts'
import { newId } from '../../kernel/ids.ts'
import { CUSTOMER_WRITTEN_METADATA_BYTES_MAX, type Metadata, mergeMetadata } from '../../kernel/metadata.ts'
import type { MetadataRequest } from '../../kernel/metadata-request.ts'
import { openDatabase } from './database.ts'
import { adminMetadataColumns, changeMetadata, metadataUpdateStatement } from './metadata.ts'
import { statement } from './statement.ts'

const updateNoteMetadata = metadataUpdateStatement('test.update_note_metadata', 'public.notes')
const insertNote = statement({
  name: 'test.insert_note_with_metadata',
  takes: { id: 'uuid', ...adminMetadataColumns },
  text: 'insert into public.notes (id, metadata, private_metadata) values ($id, $metadata, $private_metadata)'
})
const findNote = statement({
  name: 'test.find_note_with_metadata',
  takes: { id: 'uuid' },
  gives: adminMetadataColumns,
  text: 'select metadata, private_metadata from public.notes where id = $id'
})

async function useNotes() {
  const { url, drop } = await createTestDatabase()
  onTestFinished(() => drop())
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    create table public.notes (id uuid primary key, metadata jsonb not null, private_metadata jsonb not null,
      constraint notes_metadata check (
        jsonb_array_length(jsonb_path_query_array(metadata, '$.keyvalue()')) <= 50
        and octet_length(private_metadata::text) <= ${CUSTOMER_WRITTEN_METADATA_BYTES_MAX}))`)
  await client.end()
  const db = openDatabase(testDatabaseOptions(url))
  onTestFinished(() => db.close())
  return {
    insert: async (metadata: Metadata, private_metadata: Metadata) => {
      const id = newId()
      await db.run(insertNote, { id, metadata, private_metadata })
      return id
    },
    update: async (id: string, body: MetadataRequest) => {
      await db.transaction(tx => changeMetadata(tx, updateNoteMetadata, { id, ...body }))
      return db.first(findNote, { id })
    }
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'é', 'toString', 'x y', '"')
const stored = fc.dictionary(key, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }))
const change = fc.dictionary(key, fc.option(fc.string({ unit: 'grapheme', maxLength: 9 })))

test('the SQL statement changes metadata exactly as the TypeScript rule does', async () => {
  const { insert, update } = await useNotes()
  await fc.assert(
    fc.asyncProperty(stored, stored, change, change, async (shown, hidden, metadata, private_metadata) => {
      const id = await insert(shown, hidden)
      expect(await update(id, { metadata, private_metadata })).toEqual({
        metadata: mergeMetadata(shown, metadata),
        private_metadata: mergeMetadata(hidden, private_metadata)
      })
      expect(await update(id, {})).toEqual(await update(id, { metadata: {} }))
    })
  )
})

test('the TypeScript rule and the SQL constraint count the bytes of metadata alike', async () => {
  const { insert, update } = await useNotes()
  const full = Object.fromEntries(
    Array.from({ length: 28 }, (_, index) => [`key ${index}`, '"\n\u0001é'.repeat(47)])
  )
  const id = await insert({}, full)
  let accepted = 0
  for (let length = 1; length < 500; length += 1) {
    const private_metadata = { last: 'x'.repeat(length) }
    const expected = await Promise.resolve()
      .then(() => mergeMetadata(full, private_metadata, CUSTOMER_WRITTEN_METADATA_BYTES_MAX))
      .catch(() => undefined)
    const actual = await update(id, { private_metadata }).catch(() => undefined)
    expect(actual?.private_metadata, `${length}`).toEqual(expected)
    if (expected !== undefined) accepted += 1
  }
  expect([accepted > 0, accepted < 499]).toEqual([true, true])
})
