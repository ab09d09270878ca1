import { expect, test } from 'vitest'
import { mailboxOfEmail } from './mailboxes.ts'

test.each([
  ['ada.love.lace@gmail.com', 'adalovelace@gmail.com'],
  ['adalovelace+shop@googlemail.com', 'adalovelace@gmail.com'],
  ['ada+1@outlook.com', 'ada@outlook.com'],
  ['ada.l+1+2@hotmail.com', 'ada.l@hotmail.com'],
  ['ada+x@protonmail.com', 'ada@proton.me'],
  ['ada+x@example.com', 'ada+x@example.com'],
  ['a.d.a@example.com', 'a.d.a@example.com'],
  ['+tag@gmail.com', '+tag@gmail.com'],
  ['ada@gmail.com.example', 'ada@gmail.com.example'],
  ['"@"+x@gmail.com', '"@"@gmail.com']
])('the e-mail address %s belongs to the mailbox %s', (email, mailbox) => {
  expect(mailboxOfEmail(email)).toBe(mailbox)
})
