import { readFile, writeFile } from 'node:fs/promises'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { derivedId } from '../src/kernel/ids.ts'
import type { Module } from '../src/module.ts'
import { MAIL_TEMPLATE_NAMES } from '../src/modules/notifications/templates/definitions.ts'
import { ORDER_ACTIONS } from '../src/modules/orders/lifecycle/actions.ts'
import { PAYMENT_FACT_STATUS_RANKS } from '../src/modules/payments/facts/fact.ts'
import { createSecretsFromKeys } from '../src/platform/secrets/secrets.ts'
import { useCheckouts } from './support/checkouts.ts'
import { readSources, type Source } from './support/source-files.ts'
import { useShop } from './support/use-shop.ts'

// Words that are stored, hashed, or compared by processes of two versions. A changed label is a changed id: a second capture,
// refund or mail. `UPDATE_WORDS=1 vitest run test/stored-words` rewrites the file for an intended change.

const GOLDEN = new URL('stored-words.json', import.meta.url)
const ID = '01234567-89ab-7cde-8f01-23456789abcd'

/** Which argument of a call is a stored word, by the receiver and the name of the function. */
const CALLS: Readonly<Record<string, { group: string; argument: number }>> = {
  derivedId: { group: 'labels of derived ids', argument: 1 },
  derivedIdOfSameTime: { group: 'labels of derived ids', argument: 1 },
  'write.idOf': { group: 'labels of derived ids', argument: 0 },
  'secrets.mac': { group: 'purposes of keys', argument: 0 },
  'secrets.everyMac': { group: 'purposes of keys', argument: 0 },
  'secrets.verify': { group: 'purposes of keys', argument: 1 },
  'secrets.seal': { group: 'purposes of keys', argument: 0 },
  'secrets.open': { group: 'purposes of keys', argument: 0 },
  'broadcast.publish': { group: 'topics of broadcasts', argument: 1 },
  'broadcast.subscribe': { group: 'topics of broadcasts', argument: 0 },
  createCacheInvalidator: { group: 'topics of broadcasts', argument: 1 }
}
/** Purposes that are looked up, and prefixes by which tokens are recognised. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'purposes of keys': /\b(?:mac|purpose): '(\w+\.[^']+)'/g,
  'prefixes of tokens': /'([a-z]{2,6}_)'/g,
  'names of advisory locks': /hashtextextended\('([^']+)'/g,
  channels: /pg_notify\('([^']+)'/g
}

const EXPORTED = /^export const (\w+) = '([^']*)'/gm
type Word = [group: string, word: string]

/** The words in one file: literals, templates (`late:{}`), and constants, of the file or exported by another one. */
function wordsIn({ path, text }: Source, exported: ReadonlyMap<string, string>): Word[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const constants = new Map(exported)
  const found: Word[] = []
  const textOf = (node: ts.Node | undefined): string | undefined => {
    if (node === undefined) return undefined
    if (ts.isStringLiteralLike(node)) return node.text
    if (ts.isTemplateExpression(node))
      return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('')
    if (ts.isIdentifier(node)) return constants.get(node.text)
    if (ts.isPropertyAccessExpression(node)) return constants.get(node.name.text)
    return undefined
  }
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isStringLiteralLike(node.initializer))
      constants.set(node.name.getText(), node.initializer.text)
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText().replace(/^.*\.(?=\w+\.)/, '')
      const call = CALLS[name]
      const word = call && textOf(node.arguments[call.argument])
      if (call !== undefined && word !== undefined) found.push([call.group, word])
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const [group, pattern] of Object.entries(WORDS))
    for (const [, word = ''] of text.matchAll(pattern)) found.push([group, word])
  return found
}

/** Groups of words, each sorted and without repetition. */
function grouped(found: readonly Word[]): Record<string, string[]> {
  const groups = Map.groupBy(found, ([group]) => group)
  const entries = [...groups].map(([group, each]) => [
    group,
    [...new Set(each.map(([, word]) => word))].sort()
  ])
  return Object.fromEntries(entries.sort())
}

const declared = (standardModules as readonly Module[]).flatMap(
  ({ name, emits = [], subscribes = [], jobs = [] }): Word[] => [
    ...emits.map((event): Word => ['names of events', event.name]),
    ...subscribes.map((event): Word => ['handlers of events', `${name}:${event.name}`]),
    ...jobs.map((job): Word => ['names of jobs', job.name])
  ]
)

/** Requests that change something: method and path are parts of the hash of an idempotency key. */
async function keyedRequests(): Promise<Word[]> {
  const { paths } = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'))
  return Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter(method => ['post', 'put', 'patch', 'delete'].includes(method))
      .map((method): Word => ['requests that have keys', `${method.toUpperCase()} ${path}`])
  )
}

test('words that are stored, hashed or compared across versions have not changed', async () => {
  const sources = (await readSources()).filter(
    ({ path }) => path.startsWith('src/') && !/\.test\.ts$|\/fake\.ts$/.test(path)
  )
  const exported = new Map(
    sources.flatMap(({ text }) =>
      [...text.matchAll(EXPORTED)].map(([, name = '', word = '']): Word => [name, word])
    )
  )
  const shop = await useShop({ modules: standardModules })
  const constraints = await shop.sql(
    `select conrelid::regclass::text || ' ' || conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'c' and pg_get_constraintdef(oid) ~ '''' order by 1`
  )
  const stored = constraints.map(({ name, definition }): Word => {
    const words = [...String(definition).matchAll(/'([^']*)'::text/g)].map(([, word]) => word)
    return ['values that columns may have', `${name}: ${words.sort().join(' ')}`]
  })
  const words = grouped([
    ...sources.flatMap(source => wordsIn(source, exported)),
    ...declared,
    ...stored,
    ...(await keyedRequests()),
    ...Object.keys(ORDER_ACTIONS).map((action): Word => ['actions in the histories of orders', action]),
    ...Object.entries(PAYMENT_FACT_STATUS_RANKS).map(
      ([kind, ranks]): Word => ['payment facts', `${kind}: ${JSON.stringify(ranks)}`]
    ),
    ...MAIL_TEMPLATE_NAMES.map((name): Word => ['templates of messages', name])
  ])
  if (process.env.UPDATE_WORDS !== undefined) await writeFile(GOLDEN, `${JSON.stringify(words, null, 2)}\n`)
  expect(words).toEqual(JSON.parse(await readFile(GOLDEN, 'utf8')))
})

const KEYS = [{ id: 'test', key: Buffer.alloc(32, 'test').toString('base64') }]
const SEALED = 'AQR0ZXN059bPrbyRSjPxYqi1RPkNrzMJSAo4xBApHAjx4TH6/1KgPNJfyAWKpK5HaGjOEA=='

test('derived ids, keyed hashes and encrypted values of earlier versions are still the same', () => {
  const secrets = createSecretsFromKeys(KEYS)
  expect({
    derived: derivedId(ID, 'late:500'),
    mac: secrets.mac('orders.email', 'ada@example.com'),
    opened: String(secrets.open('webhooks.endpoint_secret', Buffer.from(SEALED, 'base64')))
  }).toEqual({
    derived: '5b2004d4-f8ae-550f-bedb-7af5042cbcf5',
    mac: 'test.1OzetDhqoWMLWz_lq24fou4WywbhKRzgHjJxB596rUo',
    opened: 'a secret of before'
  })
})

test('a request has the same hash of its idempotency key and the same fingerprint as in earlier versions', async () => {
  const { anonymous, sql } = await useCheckouts()
  const headers = { 'idempotency-key': 'a-key-of-before-0123456789' }
  const body = { items: [{ variant_id: ID, quantity: 1 }] }
  expect((await anonymous.post('/api/checkouts/guest', body, headers)).status).toBe(201)
  const rows = await sql(
    `select encode(key_hash, 'hex') as key, encode(fingerprint, 'hex') as fingerprint from idempotency_keys`
  )
  expect(rows).toEqual([
    {
      key: '7d4840c7a34d4ac923c60526412a38c79358d037ad368b2d800bcffe6dfabc62',
      fingerprint: 'c9ae81dbf29507911e940cc5822a029506f0ffd121e9b0477281495f5ba25a96'
    }
  ])
})
