import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CsvRejectedError } from './records.ts'

/** Error codes of the shop's disk, which are not the fault of the client. */
const OUR_SIDE = new Set(['open', 'write', 'close'])

/** A temporary file that can be read several times. `digest`: the SHA-256 of its content. */
export type SpooledFile = { readonly digest: string; open(): Readable; remove(): Promise<void> }

/**
 * Writes an upload to a temporary file. An import reads it twice, and must not wait for a slow client while it holds locks.
 * @throws CsvRejectedError when it is cut off or longer than `bytesMax`
 */
export async function spoolUpload(stream: Readable, bytesMax: number): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-import-'))
  const path = join(folder, 'file.csv')
  const digest = createHash('sha256')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await pipeline(stream, limited(bytesMax, digest), createWriteStream(path))
  } catch (cause) {
    await remove()
    if (OUR_SIDE.has((cause as NodeJS.ErrnoException).syscall ?? '')) throw cause
    throw new CsvRejectedError(1, `The file did not arrive: ${(cause as Error).message}`, cause)
  }
  return { digest: digest.digest('hex'), open: () => createReadStream(path), remove }
}

const limited = (bytesMax: number, digest: Hash) =>
  async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > bytesMax) throw new RangeError(`The file is larger than ${bytesMax} bytes.`)
      digest.update(chunk)
      yield chunk
    }
  }
