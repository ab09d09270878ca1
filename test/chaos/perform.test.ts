import { expect, test } from 'vitest'
import type { Answer } from '../support/http-client.ts'
import { openBook, type Person } from './book.ts'
import { createDice } from './dice.ts'
import { type Plan, perform, repeatHangingUp, resolveOperations, tallyOf } from './operations.ts'

type Sent = { key: string; body: unknown; isCut: boolean }

/** An administrator whose requests are answered by these, one after the other, and then by the last one. */
function usePerson(...answers: readonly (Partial<Answer> | undefined)[]) {
  const sent: Sent[] = []
  const person: Person = {
    book: openBook(),
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
  return { person, sent }
}
const plan: Plan = {
  kind: 'add note',
  about: { orderId: 'order' },
  request: note => ({ method: 'POST', path: '/notes', body: { text: note } })
}
const BUSY = { status: 503 }
const REFUSED = { status: 409, json: { code: 'REFUSED' } }

test('an operation is sent with one key until it is answered, and the book has its outcome', async () => {
  const { person, sent } = usePerson(BUSY, undefined, { status: 200, json: { id: 'order' } })
  const operation = await perform(person, plan)
  expect(operation).toMatchObject({ state: 'acknowledged', status: 200, answer: { id: 'order' } })
  expect(new Set(sent.map(({ key }) => key))).toEqual(new Set([operation.key]))
  expect(sent.map(({ body }) => body)).toEqual(Array(3).fill({ text: operation.note }))
  expect(tallyOf(person.book).get('add note')).toEqual({ tried: 1, acknowledged: 1, refused: 0 })
})

test('an operation that was refused after a try without an answer is repeated at the end', async () => {
  const { person, sent } = usePerson(undefined, REFUSED, { status: 200 })
  const operation = await perform(person, plan)
  expect(operation.state).toBe('refused')
  await resolveOperations(person)
  expect(operation.state).toBe('acknowledged')
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
})

test('an operation that was acknowledged, or refused at its first try, is not repeated at the end', async () => {
  for (const answer of [{ status: 200 }, REFUSED]) {
    const { person, sent } = usePerson(answer)
    await perform(person, plan)
    await resolveOperations(person)
    expect(sent).toHaveLength(1)
  }
})

test('a repetition has the same key, hangs up, and has to be answered as the first try was', async () => {
  const { person, sent } = usePerson({ status: 200 }, undefined, { status: 201 })
  const operation = await perform(person, plan)
  await repeatHangingUp(person, operation)
  const [, ...repeated] = sent
  expect(repeated.length).toBeGreaterThan(2)
  expect(repeated.every(({ key, isCut }) => isCut && key === operation.key)).toBe(true)
  expect([...person.book.wrong]).toEqual(['add note was answered 200, and its repetition 201'])
})
