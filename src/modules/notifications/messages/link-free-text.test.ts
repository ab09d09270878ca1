import { expect, test } from 'vitest'
import { linkFreeText } from './link-free-text.ts'

test('a text becomes one line, and emoji stay whole', () => {
  expect(linkFreeText(' For Ada\r\n\tand\u2028Bob\u202e 👨‍👩‍👧 ')).toBe('For Ada and Bob 👨‍👩‍👧')
  expect(linkFreeText('J. R. R. Tolkien, 1.5 cm')).toBe('J. R. R. Tolkien, 1.5 cm')
})

test.each([
  'https://evil.test',
  'See evil.test',
  'ｅｖｉｌ．ｔｅｓｔ',
  'evil\u200d.test',
  'evil。test',
  'x@evil.test'
])('a text with the link %s becomes empty', text => expect(linkFreeText(text)).toBe(''))
