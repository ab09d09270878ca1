import { expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { type EventType, isWebhookEvent } from '../src/kernel/events.ts'
import { Type } from '../src/kernel/schema.ts'
import { amount, Currency, Id, nullable } from '../src/kernel/wire.ts'
import type { Module } from '../src/module.ts'
import { undeclaredPersonalFields } from './support/personal-fields.ts'

const list: readonly Module[] = standardModules
const published = list.flatMap(({ emits = [] }) => emits).filter(isWebhookEvent)

const NUMBER = 'The number of an order names no person, and stays when the order is erased.'
/** Fields with text that is never personal data. */
const HARMLESS: Readonly<Record<string, string>> = {
  'orders.created.number': NUMBER,
  'orders.placed.number': NUMBER,
  'orders.claimed.number': NUMBER,
  'orders.canceled.number': NUMBER,
  'orders.shipped.number': NUMBER,
  'orders.shipment_voided.number': NUMBER,
  'orders.credited.number': NUMBER,
  'orders.evicted.number': NUMBER,
  'orders.erased.number': NUMBER,
  'payments.failed.provider': 'The name of a payment provider.'
}

test('each field of an event in the log that can hold personal data is declared in personalFields', () => {
  expect(published.length).toBeGreaterThan(20)
  const undeclared = published.flatMap(event => undeclaredPersonalFields(event, HARMLESS))
  expect(undeclared, 'name an id instead, or declare the field in personalFields').toEqual([])
})

test('every exception to personalFields is still needed', () => {
  const needed = published.flatMap(event => undeclaredPersonalFields(event))
  expect(Object.keys(HARMLESS).filter(field => !needed.includes(field))).toEqual([])
})

/** An event with this field, which no module declares. */
const eventWith = (
  field: string,
  schema: EventType['payload'],
  personalFields: string[] = []
): EventType => ({
  name: 'kite.rose',
  description: 'A kite rose.',
  subject: 'the kite',
  webhook: 'all',
  isVersioned: true,
  personalFields,
  payload: Type.Object({ [field]: schema })
})

test.each([
  ['email', Type.String({ format: 'email' })],
  ['name', nullable(Type.String())],
  ['ip', Type.String({ format: 'ipv4' })],
  ['address', Type.Object({ country: Type.String(), line1: Type.String() })],
  ['recipients', Type.Array(Type.Object({ id: Id, name: Type.String() }))],
  ['anything', Type.Unsafe<unknown>({})]
])('an event with the undeclared field %s is found', (field, schema) => {
  expect(undeclaredPersonalFields(eventWith(field, schema))).toEqual([`kite.rose.${field}`])
  expect(undeclaredPersonalFields(eventWith(field, schema, [field]))).toEqual([])
})

test.each([
  ['kite_id', nullable(Id)],
  ['status', Type.Enum(['up', 'down'])],
  ['currency', Currency],
  ['total', amount('Total')],
  ['at', Type.String({ format: 'date-time' })]
])('a field like %s needs no declaration', (field, schema) => {
  expect(undeclaredPersonalFields(eventWith(field, schema))).toEqual([])
})
