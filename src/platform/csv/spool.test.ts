import { hash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { spoolUpload } from './spool.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cartwright-test-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

test('an uploaded stream in a temporary file can be read repeatedly, and is deleted afterwards', async () => {
  const file = await spoolUpload(Readable.from([Buffer.from('one '), Buffer.from('two')]), 7)
  expect([await text(file.open()), await text(file.open())]).toEqual(['one two', 'one two'])
  expect(file.digest).toBe(hash('sha256', 'one two'))
  expect(await readdir(folder)).toHaveLength(1)
  await file.remove()
  expect(await readdir(folder)).toEqual([])
})

test('an uploaded stream that is too long or breaks off is rejected and leaves no temporary file', async () => {
  async function* broken() {
    yield Buffer.from('one')
    throw new Error('the caller has gone')
  }
  await expect(spoolUpload(Readable.from(broken()), 100)).rejects.toThrow('the caller has gone')
  await expect(spoolUpload(Readable.from([Buffer.from('12345678')]), 7)).rejects.toThrow(
    'larger than 7 bytes'
  )
  expect(await readdir(folder)).toEqual([])
})
