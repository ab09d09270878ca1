import assert from 'node:assert/strict'
import { DomainError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import type { TenderCover, TenderProvider } from '../modules/orders/index.ts'
import type { Database } from '../platform/postgres/database.ts'

/**
 * A provider under test, with what a test needs to see of it.
 * @example
 * const isIssued = async ({ issue, balanceOf }: TenderContractSubject) => (await balanceOf(await issue(500))) === 500
 */
export type TenderContractSubject = {
  readonly provider: TenderProvider
  readonly db: Database
  readonly currency: string
  /** A currency in which no tender is issued. */
  readonly otherCurrency: string
  /** Issues a tender with this balance, in minor units of `currency`. Returns its code. */
  issue(balanceMinor: number): Promise<string>
  /** The balance without open reservations: what was issued, minus what was confirmed, plus what was refunded. */
  balanceOf(code: string): Promise<number>
}
/**
 * A promise of a port, as a test that throws when the promise is broken.
 * @example
 * const runAll = (cases: readonly ContractCase[]) => Promise.all(cases.map(({ run }) => run()))
 */
export type ContractCase = { readonly name: string; run(): Promise<void> }

const BUYER = { customerId: null, network: null }
const SECONDS = 60
const PARALLEL = 64

/**
 * The contract of `orders.tender`, for the tests of a provider. Run each case as a test.
 * @example
 * const register = (subject: TenderContractSubject, test: (name: string, run: () => Promise<void>) => void) => {
 *   for (const { name, run } of tenderContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function tenderContract(subject: TenderContractSubject): readonly ContractCase[] {
  const { provider, db, currency, otherCurrency, issue, balanceOf } = subject
  const query = (code: string, amountMinor: number) => ({ code, amountMinor, currency, buyer: BUYER })
  const reserve = (code: string, amountMinor: number, id = newId(), seconds = SECONDS) =>
    provider.reserve({ ...query(code, amountMinor), id, seconds })
  const isDomainError = (error: unknown) => error instanceof DomainError
  /** Returns what is covered. A provider may reject a tender that covers nothing as it rejects an unknown code. */
  const amountOf = async (cover: Promise<TenderCover>) =>
    cover.then(
      ({ amountMinor }) => amountMinor,
      error => {
        if (!isDomainError(error)) throw error
        return 0
      }
    )
  const available = (code: string) => amountOf(provider.preview(query(code, 1_000_000)))
  const confirm = (...ids: string[]) => db.transaction(tx => provider.confirm(tx, ids))
  const release = (...ids: string[]) => db.transaction(tx => provider.release(tx, ids))
  const refund = (tenderId: string, amountMinor: number, id = newId()) =>
    db.transaction(tx => provider.refund(tx, [{ id, tenderId, amountMinor }]))
  const isConflict = (error: unknown) => error instanceof DomainError && error.kind === 'conflict'
  const confirmed = async (code: string, amountMinor: number) => {
    const id = newId()
    await reserve(code, amountMinor, id)
    await confirm(id)
    return id
  }

  return [
    {
      name: 'a preview shows what a tender covers, and changes nothing',
      run: async () => {
        const code = await issue(1_000)
        assert.equal((await provider.preview(query(code, 300))).amountMinor, 300)
        assert.equal((await provider.preview(query(code, 5_000))).amountMinor, 1_000)
        assert.deepEqual([await available(code), await balanceOf(code)], [1_000, 1_000])
      }
    },
    {
      name: 'a label never contains the code',
      run: async () => {
        const code = await issue(1_000)
        const labels = [await provider.preview(query(code, 1)), await reserve(code, 1)]
        for (const { label } of labels) {
          assert.ok(label.length > 0 && label.length <= 100)
          assert.ok(!label.includes(code))
        }
      }
    },
    {
      name: 'an unknown code and another currency are rejected for the buyer',
      run: async () => {
        const code = await issue(1_000)
        const other = { ...query(code, 100), currency: otherCurrency }
        await assert.rejects(provider.preview(query(newId(), 100)), isDomainError)
        await assert.rejects(reserve(newId(), 100), isDomainError)
        await assert.rejects(provider.preview(other), isDomainError)
        await assert.rejects(provider.reserve({ ...other, id: newId(), seconds: SECONDS }), isDomainError)
        assert.equal(await available(code), 1_000)
      }
    },
    {
      name: 'a reservation keeps its amount from others until it is released',
      run: async () => {
        const code = await issue(1_000)
        const id = newId()
        assert.equal((await reserve(code, 700, id)).amountMinor, 700)
        assert.equal(await available(code), 300)
        assert.equal((await reserve(code, 700)).amountMinor, 300)
        assert.equal(await amountOf(reserve(code, 700)), 0)
        await release(id)
        await release(id, newId())
        assert.deepEqual([await available(code), await balanceOf(code)], [700, 1_000])
      }
    },
    {
      name: 'a repeated reservation replaces the earlier one',
      run: async () => {
        const code = await issue(1_000)
        const id = newId()
        await reserve(code, 700, id)
        assert.equal((await reserve(code, 900, id)).amountMinor, 900)
        assert.equal(await available(code), 100)
        await confirm(id)
        assert.equal((await reserve(code, 100, id)).amountMinor, 900)
        assert.equal(await balanceOf(code), 100)
      }
    },
    {
      name: 'a reservation that has expired cannot be confirmed, and its amount is available again',
      run: async () => {
        const code = await issue(1_000)
        const id = newId()
        await reserve(code, 1_000, id, 0)
        assert.equal(await available(code), 1_000)
        await assert.rejects(confirm(id), isConflict)
        await assert.rejects(confirm(newId()), isConflict)
        assert.equal(await balanceOf(code), 1_000)
      }
    },
    {
      name: 'a confirmation takes the reserved amount once, and a release never gives it back',
      run: async () => {
        const code = await issue(1_000)
        const id = await confirmed(code, 600)
        await confirm(id)
        await release(id)
        assert.deepEqual([await available(code), await balanceOf(code)], [400, 400])
      }
    },
    {
      name: 'a confirmation and a refund that are rolled back change nothing',
      run: async () => {
        const code = await issue(1_000)
        const [kept, id] = [await confirmed(code, 500), newId()]
        await reserve(code, 200, id)
        const failed = db.transaction(async tx => {
          await provider.confirm(tx, [id])
          await provider.refund(tx, [{ id: newId(), tenderId: kept, amountMinor: 100 }])
          throw new Error('rolled back')
        })
        await assert.rejects(failed, { message: 'rolled back' })
        assert.deepEqual([await available(code), await balanceOf(code)], [300, 500])
        await confirm(id)
        assert.equal(await balanceOf(code), 300)
      }
    },
    {
      name: 'refunds give back parts of a confirmed amount, each once',
      run: async () => {
        const code = await issue(1_000)
        const [tenderId, id] = [await confirmed(code, 600), newId()]
        await refund(tenderId, 150, id)
        await refund(tenderId, 150, id)
        assert.equal(await balanceOf(code), 550)
        await refund(tenderId, 450)
        assert.deepEqual([await available(code), await balanceOf(code)], [1_000, 1_000])
      }
    },
    {
      name: `${PARALLEL} simultaneous orders with one tender never take more than its balance`,
      run: async () => {
        const code = await issue(1_000)
        const taken = await Promise.all(
          Array.from({ length: PARALLEL }, async () => {
            const id = newId()
            const amountMinor = await amountOf(reserve(code, 90, id))
            if (amountMinor > 0) await confirm(id)
            return amountMinor
          })
        )
        const sum = taken.reduce((all, each) => all + each, 0)
        assert.deepEqual([sum, await balanceOf(code), await available(code)], [1_000, 0, 0])
      }
    },
    {
      name: 'simultaneous orders with the same tenders in any order do not deadlock',
      run: async () => {
        const codes = [await issue(1_000), await issue(1_000), await issue(1_000)]
        await Promise.all(
          Array.from({ length: 16 }, async (_, order) => {
            const named = order % 2 === 0 ? codes : codes.toReversed()
            const ids = named.map(() => newId())
            for (const [at, code] of named.entries()) await reserve(code, 10, ids[at])
            await confirm(...ids)
            await db.transaction(tx =>
              provider.refund(
                tx,
                ids.map(tenderId => ({ id: newId(), tenderId, amountMinor: 5 }))
              )
            )
          })
        )
        for (const code of codes) assert.equal(await balanceOf(code), 1_000 - 16 * 5)
      }
    }
  ]
}
