import { expect, test } from 'vitest'
import type { Answer } from '../support/http-client.ts'
import { createDice } from './dice.ts'
import {
  type OperationPlan,
  performOperation,
  repeatHangingUp,
  resolveOperations,
  tallyOf
} from './operations.ts'
import { type ChaosClient, createRunRecord } from './run-record.ts'

type Sent = { key: string; body: unknown; isCut: boolean }

/** A client whose requests get these responses in turn, and then the last one again. */
function usePerson(...answers: readonly (Partial<Answer> | undefined)[]) {
  const sent: Sent[] = []
  const client: ChaosClient = {
    record: createRunRecord(),
    dice: { ...createDice(1), chance: () => false },
    http: {
      send: async (_method, _path, { headers, body, cutAfterMs } = {}) => {
        sent.push({ key: String(headers?.['idempotency-key']), body, isCut: cutAfterMs !== undefined })
        const answer = answers[Math.min(sent.length, answers.length) - 1]
        return answer && { headers: {}, json: {}, status: 200, ...answer }
      },
      close: () => {}
    }
  }
  return { client, sent }
}
const plan: OperationPlan = {
  kind: 'add note',
  about: { orderId: 'order' },
  request: note => ({ method: 'POST', path: '/notes', body: { text: note } })
}
const BUSY = { status: 503 }
const REFUSED = { status: 409, json: { code: 'REFUSED' } }

test('a chaos operation is sent with one idempotency key until it has a response, and its outcome is recorded', async () => {
  const { client, sent } = usePerson(BUSY, undefined, { status: 200, json: { id: 'order' } })
  const operation = await performOperation(client, plan)
  expect(operation).toMatchObject({ state: 'acknowledged', status: 200, answer: { id: 'order' } })
  expect(new Set(sent.map(({ key }) => key))).toEqual(new Set([operation.key]))
  expect(sent.map(({ body }) => body)).toEqual(Array(3).fill({ text: operation.note }))
  expect(tallyOf(client.record).get('add note')).toEqual({ tried: 1, acknowledged: 1, refused: 0 })
})

test('a chaos operation that was rejected after a try without a response is repeated at the end', async () => {
  const { client, sent } = usePerson(undefined, REFUSED, { status: 200 })
  const operation = await performOperation(client, plan)
  expect(operation.state).toBe('refused')
  await resolveOperations(client)
  expect(operation.state).toBe('acknowledged')
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
})

test('a chaos operation that was acknowledged, or rejected at its first try, is not repeated at the end', async () => {
  for (const answer of [{ status: 200 }, REFUSED]) {
    const { client, sent } = usePerson(answer)
    await performOperation(client, plan)
    await resolveOperations(client)
    expect(sent).toHaveLength(1)
  }
})

test('a repeated chaos operation has the same key, its client hangs up, and it must get the first response', async () => {
  const { client, sent } = usePerson({ status: 200 }, undefined, { status: 201 })
  const operation = await performOperation(client, plan)
  await repeatHangingUp(client, operation)
  const [, ...repeated] = sent
  expect(repeated.length).toBeGreaterThan(2)
  expect(repeated.every(({ key, isCut }) => isCut && key === operation.key)).toBe(true)
  expect([...client.record.wrong]).toEqual(['add note was answered 200, and its repetition 201'])
})
