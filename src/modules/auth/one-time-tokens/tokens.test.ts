import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { createOneTimeTokenCodec, type OneTimeTokenPurpose } from './tokens.ts'

const { textOf, idIn } = createOneTimeTokenCodec(testSecrets())
const purpose = fc.constantFrom<OneTimeTokenPurpose>('email', 'password')

test('a one-time token yields its id only for its own purpose', () => {
  fc.assert(
    fc.property(fc.uuid(), purpose, purpose, (id, made, asked) => {
      expect(idIn(asked, textOf(made, id))).toBe(made === asked ? id : undefined)
    })
  )
})

test('a one-time token that was cut or changed anywhere is rejected', () => {
  const id = '01890000-0000-7000-8000-00000000abcd'
  const text = textOf('email', id)
  for (let index = 0; index < text.length; index += 1) {
    expect(idIn('email', text.slice(0, index))).toBeUndefined()
    const other = text[index] === 'A' ? 'B' : 'A'
    expect(idIn('email', text.slice(0, index) + other + text.slice(index + 1))).toBeUndefined()
  }
  for (const wrong of ['', ` ${text}`, `${text} `, `${text}A`, text.replace('evt_', 'prt_'), id])
    expect(idIn('email', wrong)).toBeUndefined()
})

test('a one-time token sealed with a replaced secret is valid, and one with a removed secret is rejected', () => {
  const id = '01890000-0000-7000-8000-00000000abcd'
  const old = createOneTimeTokenCodec(testSecrets('old')).textOf('email', id)
  expect(createOneTimeTokenCodec(testSecrets('new', 'old')).idIn('email', old)).toBe(id)
  expect(createOneTimeTokenCodec(testSecrets('new')).idIn('email', old)).toBeUndefined()
})
