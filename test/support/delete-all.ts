import type { TestShop } from '../../src/testing.ts'

type Caller = Pick<ReturnType<TestShop['as']>, 'get' | 'delete'>

/** Deletes what earlier tests of a shared shop created at this path. Default objects, which cannot be deleted, stay. */
export async function deleteAll(caller: Caller, path: string): Promise<void> {
  const { json } = await caller.get(`${path}?limit=100`)
  if (json.next_cursor !== null) throw new Error(`${path} has more than 100 objects`)
  for (const { id, is_default: isDefault } of json.items) {
    if (isDefault) continue
    const { status, text } = await caller.delete(`${path}/${id}`)
    if (status !== 204) throw new Error(`${path}/${id}: ${text}`)
  }
}
