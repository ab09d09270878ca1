import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ORDER_ACTIONS } from '../../src/modules/orders/lifecycle/actions.ts'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = await read('docs/concepts.md')
const document = JSON.parse(await read('openapi.json'))

type Diagram = { states: string[]; transitions: string[] }

/** The states and transitions of the diagram below a heading. `[*]` is the start and the end. */
function diagramIn(text: string, heading: string): Diagram {
  const section = text.split(/^## /m).find(part => part.startsWith(`${heading}\n`)) ?? ''
  const [, lines = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(section) ?? []
  const edges = [...lines.matchAll(/^ {2}(\S+) --> ([^\s:]+)(?:: (.*))?$/gm)]
  const states = edges.flatMap(([, from, to]) => [from, to]).filter(state => state !== '[*]')
  return {
    states: [...new Set(states as string[])].sort(),
    transitions: edges.map(([, from, to, label = '']) => `${from} -> ${to}: ${label}`).sort()
  }
}

const propertyOf = (schema: string, property: string): string[] =>
  document.components.schemas[schema].properties[property].enum.toSorted()
const parameterOf = (path: string, name: string): string[] =>
  document.paths[path].get.parameters
    .find((parameter: { name: string }) => parameter.name === name)
    .schema.enum.toSorted()

const STATES: Record<string, string[]> = {
  Order: [...new Set(Object.values(ORDER_ACTIONS).flatMap(({ from }) => from))].sort(),
  Payment: propertyOf('AdminPaymentResponse', 'status'),
  Stock: propertyOf('ReservationResponse', 'state'),
  Price: propertyOf('CheckoutResponse', 'status'),
  Events: parameterOf('/api/admin/events', 'state')
}

test.each(Object.entries(STATES))(
  'the diagram of %s in docs/concepts.md has exactly the states of the code',
  (heading, states) => {
    expect(diagramIn(page, heading).states).toEqual(states)
  }
)

test("the diagram of Order in docs/concepts.md has exactly the transitions of the code's table of actions", () => {
  const actionsOf = new Map<string, string[]>()
  for (const [name, { from, to }] of Object.entries(ORDER_ACTIONS))
    for (const state of from.filter(each => to !== null && each !== to)) {
      const edge = `${state} -> ${to}`
      actionsOf.set(edge, [...(actionsOf.get(edge) ?? []), name])
    }
  const expected = [...actionsOf].map(([edge, names]) => `${edge}: ${names.sort().join(', ')}`)
  const shown = diagramIn(page, 'Order').transitions.filter(edge => !edge.includes('[*]'))
  expect(shown).toEqual(expected.sort())
})

test('the check of diagrams finds a state that is missing or unknown in one', () => {
  const drawn =
    '## Order\n\n```mermaid\nstateDiagram-v2\n  [*] --> pending: create\n  pending --> lost\n```\n'
  expect(diagramIn(drawn, 'Order')).toEqual({
    states: ['lost', 'pending'],
    transitions: ['[*] -> pending: create', 'pending -> lost: ']
  })
  expect(diagramIn(drawn, 'Payment').states).toEqual([])
})
