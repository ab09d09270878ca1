import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, onTestFinished, test } from 'vitest'
import { fixedPort } from '../../../../test/faults/fixed-port.ts'
import { openMailServer } from '../../../../test/support/mail-server.ts'
import type { OutgoingMessage } from './port.ts'
import { createSmtpTransport } from './smtp.ts'

const LINE = 'Übergrößenträger → 100 % überzeugt. '.repeat(60)
const mail: OutgoingMessage = {
  channel: 'email',
  from: { name: 'Bücher & Co.', address: 'shop@shop.example' },
  replyTo: 'help@shop.example',
  id: '019b0000-0000-7000-8000-000000000001',
  template: 'welcome',
  messageId: '<019b0000-0000-7000-8000-000000000001@shop.example>',
  date: new Date('2026-01-31T12:00:00Z'),
  to: { name: 'Zoë "Łukasz" <admin@shop.example>', address: 'zoe@example.com' },
  subject: 'Größe: für Zoë 🎁 '.repeat(12).trim(),
  text: `.\n..two dots\n${LINE}\n.\nFrom here on\n`,
  html: `<p>.</p>\n<p>${LINE}</p>\n.\n`,
  headers: {
    'auto-submitted': 'auto-generated',
    'list-unsubscribe': `<https://shop.example/u?token=${'a'.repeat(300)}>`
  }
}

function open(url: string) {
  const smtp = createSmtpTransport({
    url,
    connections: 1,
    timeoutSeconds: 10
  })
  onTestFinished(smtp.close)
  return smtp
}

test('a mail arrives unchanged: umlauts, dots, long lines, both parts, every header', async () => {
  const server = await openMailServer({})
  onTestFinished(server.close)
  await open(server.url).send(mail)
  const [taken] = server.taken
  expect(taken).toMatchObject({
    from: { name: 'Bücher & Co.', address: 'shop@shop.example' },
    to: [{ name: mail.to.name, address: 'zoe@example.com' }],
    replyTo: [{ address: 'help@shop.example' }],
    subject: mail.subject,
    messageId: mail.messageId,
    date: '2026-01-31T12:00:00.000Z',
    recipient: 'zoe@example.com'
  })
  // The parser appends a line break.
  const unix = (text = '') => text.replaceAll('\r\n', '\n').trimEnd()
  expect(unix(taken?.text)).toBe(mail.text.trimEnd())
  expect(unix(taken?.html)).toBe(mail.html.trimEnd())
  const header = (name: string) => taken?.headers.find(({ key }) => key === name)?.value
  expect(header('list-unsubscribe')).toBe(mail.headers['list-unsubscribe'])
  expect(header('content-type')).toContain('multipart/alternative')
  // RFC 5322, section 2.1.1, limits lines. RFC 5321 allows 8-bit content only when the server offers it.
  for (const line of taken?.raw.split('\r\n') ?? []) expect(line.length).toBeLessThanOrEqual(998)
  expect(taken?.raw).toMatch(/^[\r\n\t -~]*$/)
})

test('line breaks in the name or subject of a mail add no header and no recipient', async () => {
  const server = await openMailServer({})
  onTestFinished(server.close)
  const evil = 'x\r\nBcc: eve@example.com\r\nX-Evil: yes'
  await open(server.url).send({ ...mail, subject: evil, to: { name: evil, address: 'zoe@example.com' } })
  const [taken] = server.taken
  const names = taken?.headers.map(({ key }) => key) ?? []
  expect(names.filter(name => name === 'bcc' || name === 'x-evil')).toEqual([])
  expect(taken?.recipient).toBe('zoe@example.com')
})

const SMTPD = '/usr/sbin/smtpd'
/** OpenSMTPD needs root and runs once per machine, so only `npm run faults:mail` enables this test. */
const isEnabled = process.env.MAIL_SERVER === 'opensmtpd' && existsSync(SMTPD) && userInfo().uid === 0

test.skipIf(!isEnabled)('OpenSMTPD accepts a mail and delivers it unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-smtpd-'))
  await chmod(folder, 0o777)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const port = await fixedPort()
  const config = join(folder, 'smtpd.conf')
  await writeFile(
    config,
    [
      `listen on 127.0.0.1 port ${port}`,
      'table people { "@" = "nobody" }',
      `action keep maildir "${folder}/mail" virtual <people>`,
      'match from any for any action keep',
      ''
    ].join('\n')
  )
  const child = spawn(SMTPD, ['-d', '-f', config], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const smtp = open(`smtp://127.0.0.1:${port}?ignoreTLS=true`)
  const patience = { timeout: 60_000 }
  await expect.poll(() => smtp.send(mail).then(() => 'sent', String), patience).toBe('sent')
  const delivered = () => readdir(join(folder, 'mail', 'new')).catch(() => [])
  await expect.poll(async () => (await delivered()).length, patience).toBe(1)
  const [name = ''] = await delivered()
  const read = await PostalMime.parse(await readFile(join(folder, 'mail', 'new', name)))
  expect(read).toMatchObject({ subject: mail.subject, messageId: mail.messageId })
  expect(read.text?.trim()).toBe(mail.text.trim())
})
