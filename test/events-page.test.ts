import { expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import * as door from '../src/index.ts'
import { type EventType, listDeclaredEvents } from '../src/kernel/events.ts'
import type { Module } from '../src/module.ts'
import { webhooksModule } from '../src/modules/webhooks/index.ts'
import { expectPage } from './support/generated-page.ts'

// Lane alone: it reads every event that is declared so far, and other tests declare some.

type Field = {
  type?: string
  format?: string
  enum?: string[]
  items?: Field
  description?: string
  anyOf?: Field[]
}
const list: readonly Module[] = standardModules
/** Which events webhooks send. */
const SENT = { all: 'all', latest: 'the latest of a subject', none: 'none' } as const

/** The type of a field in words. */
function wordsOf({ type, format, enum: words, items, anyOf }: Field): string {
  if (anyOf !== undefined) return anyOf.map(wordsOf).join(' or ')
  if (words !== undefined) return words.map(word => `\`${word}\``).join(', ')
  if (Array.isArray(type)) return type.join(' or ')
  if (type === 'array') return `list of ${wordsOf(items ?? {})}`
  return format === 'uuid' ? 'id' : String(type)
}

/** What modules of other repositories import to subscribe to it. */
const exportOf = (event: EventType) => Object.entries(door).find(([, exported]) => exported === event)?.[0]

function describe(event: EventType): string {
  const { name, description, subject, webhook, unversioned, payload } = event
  const fields = Object.entries((payload as unknown as { properties: Record<string, Field> }).properties)
  const subscribers = list.filter(each => each.subscribes?.includes(event) === true)
  return [
    `## ${name}`,
    '',
    description,
    '',
    `* Subject: ${subject}.`,
    `* Exported as: \`${exportOf(event)}\`.`,
    ...(subscribers.length > 0 ? [`* Subscribers: ${subscribers.map(each => each.name).join(', ')}.`] : []),
    `* [Webhooks](webhooks.md): ${SENT[webhook ?? 'none']}.`,
    ...(unversioned === undefined ? [] : [`* \`subject_version\` is null: ${unversioned}`]),
    ...fields.map(
      ([field, schema]) =>
        `* \`${field}\`: ${wordsOf(schema)}.${schema.description === undefined ? '' : ` ${schema.description}`}`
    )
  ].join('\n')
}

const events = listDeclaredEvents().toSorted((a, b) => (a.name < b.name ? -1 : 1))

test('docs/events.md describes every event', () =>
  expectPage('events.md', () => events.map(describe).join('\n\n')))

test('every event is exported from the package, so that modules of other repositories can subscribe to it', () => {
  expect(events.filter(event => exportOf(event) === undefined).map(({ name }) => name)).toEqual([])
})

test('every event is emitted by the module in its name, has a description, and is in the past tense', () => {
  const emitted = list.flatMap(({ name, emits = [] }) =>
    emits.map(event => ({ module: name, event: event.name }))
  )
  expect(emitted.map(({ event }) => event).sort()).toEqual(events.map(({ name }) => name))
  expect(emitted.filter(({ module, event }) => !event.startsWith(`${module}.`))).toEqual([])
  for (const { name, description, subject, unversioned = 'None.' } of events) {
    expect(unversioned, name).toMatch(/^[A-Z].*\.$/)
    expect(description, name).toMatch(/^[A-Z].*\.$/)
    expect(subject, name).toMatch(/^[a-z].*[^.]$/)
  }
})

test('every event declares whether webhooks send it, and webhooks subscribe to all that they send', () => {
  const undecided = events.filter(({ webhook }) => webhook === undefined).map(({ name }) => name)
  expect(undecided, "decide in defineEvent: webhook: 'all', 'latest' or 'none'").toEqual([])
  const outward = events.filter(({ webhook }) => webhook !== 'none').map(({ name }) => name)
  const subscribed = events.filter(event => webhooksModule.subscribesTo?.(event))
  expect(subscribed.map(({ name }) => name)).toEqual(outward)
})

/** An event contains a customer's id, and no other personal data. */
const PERSONAL = /name|mail|phone|address|street|city|postal|birth|token|secret|password|text|title/

test('the payloads of events sent by webhook contain ids, amounts and states, and nothing personal', () => {
  for (const { name, webhook, payload } of events)
    if (webhook !== 'none')
      for (const field of Object.keys((payload as unknown as { properties: object }).properties))
        expect(field, name).not.toMatch(PERSONAL)
})
