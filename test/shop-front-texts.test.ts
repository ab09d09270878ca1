import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { normalizeAddress } from '../src/kernel/address.ts'
import type { ErrorDefinition } from '../src/kernel/errors.ts'
import { type FieldFault, schemaErrorMessage } from '../src/kernel/faults.ts'
import { patternMessage } from '../src/kernel/patterns.ts'
import { REGION_MESSAGE } from '../src/kernel/regions.ts'
import {
  emailDomainNotAllowedError,
  emailTakenError,
  invitationRequiredError,
  phoneInvalidError
} from '../src/modules/auth/errors.ts'
import { createPasswordStrengthCheck } from '../src/modules/auth/passwords/policy.ts'
import { CHECKOUT_FINDING_CODES } from '../src/modules/orders/checkouts/findings.ts'
import { authorReviewRequestFields } from '../src/modules/reviews/reviews/texts.ts'

type Texts = Record<string, unknown> & { findings: object; errors: object; faults: [RegExp, string][] }
const FOLDER = new URL('../demo/shop/', import.meta.url)
const { en } = (await import(new URL('en.js', FOLDER).href)) as { en: Texts }
const [, named = ''] = /TEXTS = \{(.+?)\}/.exec(await readFile(new URL('texts.js', FOLDER), 'utf8')) ?? []
const codes = named.split(',').map(code => code.trim())
const translations = await Promise.all(
  codes
    .filter(code => code !== 'en')
    .map(async code => ({ code, texts: (await import(new URL(`${code}.js`, FOLDER).href))[code] as Texts }))
)

/** Each text by its path, with the number of its parameters. */
const pathsOf = (texts: object, path = ''): string[] =>
  Object.entries(texts).flatMap(([key, value]) => {
    if (key === 'faults') return []
    if (typeof value === 'function') return [`${path}${key}(${value.length})`]
    return typeof value === 'string' ? [path + key] : pathsOf(value, `${path}${key}.`)
  })

const scripts = async () => {
  const names = (await readdir(FOLDER)).filter(
    name => name.endsWith('.js') && !codes.includes(name.slice(0, -'.js'.length))
  )
  return Promise.all(names.map(async name => ({ name, text: await readFile(new URL(name, FOLDER), 'utf8') })))
}

test('the shop front has at least English and German texts', () => {
  expect(codes).toEqual(expect.arrayContaining(['en', 'de']))
})

test.each(translations)(
  "the shop front's texts in $code are the same as in English, with the same parameters",
  ({ texts }) => {
    expect(pathsOf(texts).sort()).toEqual(pathsOf(en).sort())
    expect(JSON.stringify(texts)).not.toContain('""')
  }
)

test('every text that a script of the shop front names exists, and every text is used', async () => {
  const named = (await scripts()).map(({ text }) => text).join('\n')
  const used = new Set([...named.matchAll(/\bt((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1)))
  const { name, ...texts } = en
  const known = pathsOf(texts).map(path => path.replace(/\(\d+\)$/, ''))
  const isUsed = (path: string) => [...used].some(each => path === each || path.startsWith(`${each}.`))
  expect(known.filter(path => !isUsed(path))).toEqual([])
  const isKnown = (path: string) =>
    known.some(each => each === path || each.startsWith(`${path}.`) || path.startsWith(`${each}.`))
  expect([...used].filter(path => !isKnown(path) && path !== 'faults.find')).toEqual([])
})

test('no script of the shop front except the texts contains words for shoppers', async () => {
  for (const { name, text } of await scripts()) {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    expect(
      code.match(/'[^'\n]*[a-z]{2} [a-z]{2}[^'\n]*'|'[A-Z][a-z]+'/g)?.filter(each => !isTechnical(each)) ??
        [],
      name
    ).toEqual([])
  }
})
const isTechnical = (literal: string) => /^'(Enter|button main|BIF |BHD )/.test(literal)

test('every finding of a checkout has a text in the shop front', () => {
  expect(Object.keys(en.findings).sort()).toEqual([...CHECKOUT_FINDING_CODES].sort())
})

test('every error with a text in the shop front is an error of the API', async () => {
  const documented = await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8')
  expect(Object.keys(en.errors).filter(code => !documented.includes(`\`${code}\``))).toEqual([])
})

const faultsOf = (error: ErrorDefinition): string[] =>
  Object(error().details).errors.map(({ message }: FieldFault) => message)

/** All patterns of a schema, however deep they are. */
const patternsIn = (schema: object): string[] =>
  Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'pattern') return [value]
    return typeof value === 'object' && value !== null ? patternsIn(value) : []
  })

test.each(translations)(
  "the shop front's texts in $code translate every validation message of customer forms",
  ({ texts }) => {
    const address = { name: '', line1: '', country: 'DE', postal_code: 'x', phone: 'x', vat_id: 'x' } as const
    const ofSchema = (keyword: string, params: object) =>
      schemaErrorMessage({ keyword, params, instancePath: '', schemaPath: '', parentSchema: {} } as never)
    const policy = createPasswordStrengthCheck({ lengthMin: 12, shopName: 'trombone' })
    const passwords = ['x', 'x'.repeat(300), 'password', 'abcdefghijklm', 'ada-lovelace-7', 'trombone-shop']
    const messages = [
      ...normalizeAddress(address, 'body/address').faults.map(({ message }) => message),
      ...passwords
        .flatMap(password => policy.faults(password, 'ada-lovelace@example.com'))
        .map(({ message }) => message),
      ofSchema('required', {}),
      ofSchema('minLength', { limit: 1 }),
      ofSchema('minLength', { limit: 3 }),
      ofSchema('maxLength', { limit: 255 }),
      ...[phoneInvalidError, emailTakenError, emailDomainNotAllowedError, invitationRequiredError].flatMap(
        faultsOf
      ),
      ...patternsIn(authorReviewRequestFields).map(pattern => patternMessage(pattern) ?? pattern),
      REGION_MESSAGE
    ]
    expect(messages.filter(message => !texts.faults.some(([pattern]) => pattern.test(message)))).toEqual([])
  }
)
