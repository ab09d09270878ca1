import assert from 'node:assert/strict'
import { newId } from '../kernel/ids.ts'
import {
  findLabelResultFault,
  type LabelRequest,
  type LabelResult,
  type ShippingLabelProvider
} from '../modules/shipping/index.ts'
import { assertEndsWhenAborted, callWithCopy, type ExternalServiceControls } from './external-service.ts'
import type { ContractCase } from './tender.ts'

type Label = Extract<LabelResult, { readonly kind: 'label' }>

/**
 * A provider of labels under test, with what a test needs to see and control of the service behind it.
 * @example
 * const countCharged = async ({ charged }: ShippingLabelsContractSubject) => (await charged()).length
 */
export type ShippingLabelsContractSubject = {
  readonly provider: ShippingLabelProvider
  /** A parcel for which the carrier sells a label. Each case has keys of its own. */
  readonly parcel: LabelRequest
  /** A parcel for which the carrier sells no label. Absent: it refuses none. */
  readonly refused?: LabelRequest
  /** The tracking numbers of the labels that the carrier has sold, without voided ones. */
  charged(): readonly string[] | Promise<readonly string[]>
  /** Absent: the provider calls no service. */
  readonly service?: ExternalServiceControls
}

/**
 * The contract of `shipping.labels`, for the tests of a provider. Run each case as a test, one after the other.
 * @example
 * const register = (
 *   subject: ShippingLabelsContractSubject,
 *   test: (name: string, run: () => Promise<void>) => void
 * ) => {
 *   for (const { name, run } of shippingLabelsContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function shippingLabelsContract({
  provider,
  parcel,
  refused,
  charged,
  service
}: ShippingLabelsContractSubject): readonly ContractCase[] {
  /** Rejects only when the provider does, whatever its result. */
  const request = (fields: Partial<LabelRequest>): Promise<LabelResult> =>
    callWithCopy({ ...parcel, key: newId(), ...fields }, async (of, signal) =>
      provider.createLabel(of, signal)
    )
  const create = async (fields: Partial<LabelRequest>): Promise<LabelResult> => {
    const result = await request(fields)
    assert.equal(findLabelResultFault(result), undefined)
    return result
  }
  const buy = async (key: string): Promise<Label> => {
    const result = await create({ key })
    assert.equal(result.kind, 'label')
    return result as Label
  }
  const voidLabel = async (key: string, trackingNumber: string | null) =>
    callWithCopy({ key, trackingNumber }, async (label, signal) => provider.voidLabel(label, signal))
  /** Runs `work` and returns the tracking numbers that the carrier charges since then. */
  async function chargedBy(work: () => Promise<unknown>): Promise<string[]> {
    const before = new Set(await charged())
    await work()
    return (await charged()).filter(number => !before.has(number))
  }

  return [
    {
      name: 'a label has a carrier, a tracking number and a document, and is charged',
      run: async () => {
        const key = newId()
        const [number] = await chargedBy(() => buy(key))
        assert.equal((await buy(key)).trackingNumber, number)
      }
    },
    {
      name: 'a request with the same key returns the first label, and buys none',
      run: async () => {
        const key = newId()
        const numbers = await chargedBy(async () => assert.deepEqual(await buy(key), await buy(key)))
        assert.equal(numbers.length, 1)
      }
    },
    {
      name: 'requests with different keys buy different labels, also simultaneously',
      run: async () => {
        const keys = Array.from({ length: 4 }, () => newId())
        const labels = await Promise.all(keys.map(buy))
        assert.equal(new Set(labels.map(({ trackingNumber }) => trackingNumber)).size, keys.length)
      }
    },
    {
      name: 'simultaneous requests with the same key buy one label',
      run: async () => {
        const key = newId()
        const numbers = await chargedBy(async () => {
          // One of them may be rejected. The shop repeats it then.
          await Promise.allSettled([buy(key), buy(key), buy(key)])
          await buy(key)
        })
        assert.equal(numbers.length, 1)
      }
    },
    {
      name: 'a refused request has a reason for administrators, and buys nothing',
      run: async () => {
        if (refused === undefined) return
        const key = newId()
        const numbers = await chargedBy(async () => {
          assert.equal((await create({ ...refused, key })).kind, 'refused')
          await voidLabel(key, null)
        })
        assert.deepEqual(numbers, [])
      }
    },
    {
      name: 'an error of the service rejects the call, because a refusal would be final, and a retry buys the label',
      run: async () => {
        if (service === undefined) return
        const key = newId()
        await service.failNext('error')
        assert.deepEqual(await chargedBy(() => assert.rejects(request({ key }))), [])
        assert.equal((await chargedBy(() => buy(key))).length, 1)
      }
    },
    {
      name: 'a label whose answer was lost is found by its key, and not bought again',
      run: async () => {
        if (service === undefined) return
        const key = newId()
        await service.failNext('lost')
        const [number] = await chargedBy(() => assert.rejects(request({ key })))
        assert.deepEqual(
          await chargedBy(async () => assert.equal((await buy(key)).trackingNumber, number)),
          []
        )
      }
    },
    {
      name: 'a voided label is not charged, and a repeated void changes nothing',
      run: async () => {
        const [key, other] = [newId(), newId()]
        const numbers = await chargedBy(async () => {
          const { trackingNumber } = await buy(key)
          await buy(other)
          for (const _ of [1, 2]) await voidLabel(key, trackingNumber)
        })
        assert.deepEqual(numbers, [(await buy(other)).trackingNumber])
      }
    },
    {
      name: 'a label that was never bought is voided without an error',
      run: async () => voidLabel(newId(), null)
    },
    {
      name: 'a label whose answer was lost is voided by its key',
      run: async () => {
        if (service === undefined) return
        const key = newId()
        const numbers = await chargedBy(async () => {
          await service.failNext('lost')
          await assert.rejects(request({ key }))
          await voidLabel(key, null)
        })
        assert.deepEqual(numbers, [])
      }
    },
    {
      name: 'a void that fails is rejected, and a retry voids the label',
      run: async () => {
        if (service === undefined) return
        for (const failure of ['error', 'lost'] as const) {
          const key = newId()
          const numbers = await chargedBy(async () => {
            const { trackingNumber } = await buy(key)
            await service.failNext(failure)
            await assert.rejects(voidLabel(key, trackingNumber))
            await voidLabel(key, trackingNumber)
          })
          assert.deepEqual(numbers, [])
        }
      }
    },
    {
      name: 'an aborted signal ends both calls while the service hangs, and a retry buys one label',
      run: async () => {
        if (service === undefined) return
        const key = newId()
        const numbers = await chargedBy(async () => {
          await assertEndsWhenAborted(service, async signal =>
            provider.createLabel({ ...parcel, key }, signal)
          )
          await buy(key)
        })
        assert.equal(numbers.length, 1)
        const label = { key, trackingNumber: numbers[0] ?? null }
        await assertEndsWhenAborted(service, async signal => provider.voidLabel(label, signal))
        await voidLabel(key, label.trackingNumber)
      }
    }
  ]
}
