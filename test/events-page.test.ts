import { expect, test } from 'vitest'
import { modules } from '../src/app.ts'
import * as door from '../src/index.ts'
import { declaredEvents, type EventType } from '../src/kernel/events.ts'
import type { Module } from '../src/module.ts'
import { webhooksModule } from '../src/modules/webhooks/index.ts'
import { expectPage } from './support/generated-page.ts'

// Lane process: it reads every event that is declared so far, and other tests declare some.

type Field = {
  type?: string
  format?: string
  enum?: string[]
  items?: Field
  description?: string
  anyOf?: Field[]
}
const list: readonly Module[] = modules
/** Whether those outside of the shop are told. */
const TOLD = { each: 'each', latest: 'the latest of a subject', never: 'never' } as const

/** The type of a field in words. */
function wordsOf({ type, format, enum: words, items, anyOf }: Field): string {
  if (anyOf !== undefined) return anyOf.map(wordsOf).join(' or ')
  if (words !== undefined) return words.map(word => `\`${word}\``).join(', ')
  if (Array.isArray(type)) return type.join(' or ')
  if (type === 'array') return `list of ${wordsOf(items ?? {})}`
  return format === 'uuid' ? 'id' : String(type)
}

/** What modules of other repositories import to hear it. */
const exportOf = (event: EventType) => Object.entries(door).find(([, exported]) => exported === event)?.[0]

function describe(event: EventType): string {
  const { name, description, subject, outside, payload } = event
  const fields = Object.entries((payload as unknown as { properties: Record<string, Field> }).properties)
  const heard = list.filter(each => each.hears?.includes(event) === true)
  return [
    `## ${name}`,
    '',
    description,
    '',
    `* Subject: ${subject}.`,
    `* Exported as: \`${exportOf(event)}\`.`,
    ...(heard.length > 0 ? [`* Heard by: ${heard.map(each => each.name).join(', ')}.`] : []),
    `* [Webhooks](webhooks.md): ${TOLD[outside ?? 'never']}.`,
    ...fields.map(
      ([field, schema]) =>
        `* \`${field}\`: ${wordsOf(schema)}.${schema.description === undefined ? '' : ` ${schema.description}`}`
    )
  ].join('\n')
}

const events = declaredEvents().toSorted((a, b) => (a.name < b.name ? -1 : 1))

test('docs/events.md describes every event', () =>
  expectPage('events.md', () => events.map(describe).join('\n\n')))

test('every event is exported, so that modules of other repositories can hear it', () => {
  expect(events.filter(event => exportOf(event) === undefined).map(({ name }) => name)).toEqual([])
})

test('every event is emitted by the module that it is called after, tells something, and is in the past tense', () => {
  const emitted = list.flatMap(({ name, emits = [] }) =>
    emits.map(event => ({ module: name, event: event.name }))
  )
  expect(emitted.map(({ event }) => event).sort()).toEqual(events.map(({ name }) => name))
  expect(emitted.filter(({ module, event }) => !event.startsWith(`${module}.`))).toEqual([])
  for (const { name, description, subject } of events) {
    expect(description, name).toMatch(/^[A-Z].*\.$/)
    expect(subject, name).toMatch(/^[a-z].*[^.]$/)
  }
})

test('every event says whether those outside are told, and all that are to be told are heard of by webhooks', () => {
  const undecided = events.filter(({ outside }) => outside === undefined).map(({ name }) => name)
  expect(undecided, "decide in defineEvent: outside: 'each', 'latest' or 'never'").toEqual([])
  const outward = events.filter(({ outside }) => outside !== 'never').map(({ name }) => name)
  const heard = events.filter(event => webhooksModule.overhears?.(event))
  expect(heard.map(({ name }) => name)).toEqual(outward)
})

/** What may be told of somebody is their id, and nothing else. */
const PERSONAL = /name|mail|phone|address|street|city|postal|birth|token|secret|password|text|title/

test('what leaves the shop holds ids, amounts and states, and nothing personal', () => {
  for (const { name, outside, payload } of events)
    if (outside !== 'never')
      for (const field of Object.keys((payload as unknown as { properties: object }).properties))
        expect(field, name).not.toMatch(PERSONAL)
})
