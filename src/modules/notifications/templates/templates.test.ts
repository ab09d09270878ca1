import { expect, test } from 'vitest'
import { MAIL_TEMPLATE_NAMES, type MailTemplateName, mailTemplateSamplesFor } from './definitions.ts'
import { createLiquidEngine, MAIL_TEMPLATE_PARTS } from './liquid-engine.ts'
import {
  createMailTemplateSamples,
  type MailTemplateExample,
  nonEmptyExampleText,
  possiblyEmptyExampleText
} from './samples.ts'
import { bundledMailTemplates } from './service.ts'

const engine = createLiquidEngine({ timeZone: 'UTC' })
const samplesIn = (name: MailTemplateName, locale = 'en') =>
  mailTemplateSamplesFor(name, { shopName: 'Corner', locale })
const words = { subject: 's', text: 't', html: 'h' }
const samples = samplesIn('order_placed')
const { example } = samples

test.each(Object.keys(bundledMailTemplates))(
  'the built-in mail templates in %s have no faults, and every part has text',
  async locale => {
    for (const name of MAIL_TEMPLATE_NAMES) {
      const template = bundledMailTemplates[locale]?.[name]
      if (template === undefined) throw new Error(name)
      const each = samplesIn(name, locale)
      expect([name, await engine.check(template, each)]).toEqual([name, []])
      const mail = await engine.render(template, each.example)
      for (const part of MAIL_TEMPLATE_PARTS) expect(mail[part], name).toMatch(/\S{3}/)
      expect(mail.text).toContain('Ada Lovelace')
    }
  }
)

test('variables in mail templates are escaped in HTML, and subjects are one line', async () => {
  const name = '<img src=x onerror=alert(1)>\r\nBcc: eve@example.com'
  const template = {
    subject: 'To {{ recipient.name }}',
    text: '{{ recipient.name }}',
    html: '{{ recipient.name }}'
  }
  const mail = await engine.render(template, { ...example, recipient: { name } })
  expect(mail.subject).toBe('To <img src=x onerror=alert(1)> Bcc: eve@example.com')
  expect(mail.html).toBe('&lt;img src=x onerror=alert(1)&gt;\r\nBcc: eve@example.com')
})

test('the money filter of mail templates is exact, localized, and uses the decimals of the currency', async () => {
  const show = async (locale: string, amount: number, currency: string) =>
    (
      await engine.render(
        { ...words, text: '{{ amount | money: currency }}' },
        { ...example, locale, amount, currency }
      )
    ).text
  expect(await show('en', 9_007_199_254_740_991, 'USD')).toBe('$90,071,992,547,409.91')
  expect(await show('de', 123_450, 'EUR')).toBe('1.234,50\u00a0€')
  expect(await show('en', 500, 'JPY')).toBe('¥500')
  expect(await show('en', 1_234, 'KWD')).toBe('KWD\u00a01.234')
  expect(await show('en', -100, 'USD')).toBe('-$1.00')
})

test.each([
  '{% if order.lines.size > 3 %}{{ order.lines[3].name }}{% endif %}',
  '{% for line in order.lines %}{% if forloop.first %}{% continue %}{% endif %}{{ line.name }}{% else %}-{% endfor %}',
  '{% case order.currency %}{% when "EUR", "USD" %}{{ order.total }}{% else %}{{ order.number }}{% endcase %}'
])('the check of mail templates finds no fault in %j', async text => {
  expect(await engine.check({ ...words, text }, samples)).toEqual([])
})

test.each([
  ['{{ order.numbr }}', 1, 'order.numbr'],
  ['fine\n{% if order.total > 1 %}\n{{ secret }}\n{% endif %}', 3, 'secret'],
  ['a\n{% if order.total > 1 %}', 2, 'not closed'],
  ['{{ order.number | shout }}', 1, 'shout'],
  ['{% for line in order.lines %}\n{{ line.colour }}{% endfor %}', 2, 'colour'],
  ["{% render '/etc/passwd' %}", 1, 'passwd'],
  ['{% for i in (1..100000000) %}x{% endfor %}', 1, 'limit'],
  ['{% for i in (1..300) %}{% for j in (1..300) %}{% endfor %}{% endfor %}', 1, 'limit'],
  ['{{ order.number | money: order.currency }}', 1, 'minor units'],
  ['{{ shop.constructor.name }}', 1, 'constructor'],
  // Branches that the example does not reach.
  [
    '{% if order.total > 1000000 %}{% for line in order.lines %}\n{{ line.colour }}{% endfor %}{% endif %}',
    2,
    'colour'
  ],
  [
    '{% unless order.total > 1 %}\n{{ order.number | money: order.currency }}{% endunless %}',
    2,
    'minor units'
  ],
  ['{% if order.total > 1 %}{% else %}\n\n{{ order.number | moment }}{% endif %}', 3, 'a time'],
  ['{% case order.currency %}{% when "JPY" %}\n{{ order.url | moment }}{% endcase %}', 2, 'a time'],
  ['{% for line in order.lines %}{% break %}\n{{ line.colour }}{% endfor %}', 2, 'colour'],
  // Values that may be missing or empty.
  ['a\n{{ order.lines[1].name }}', 2, 'lines.1'],
  ['{% assign first = recipient.name | split: " " | first %}\n{{ first }}', 2, 'first']
])('the mail template %j is rejected with its line and the reason', async (text, line, reason) => {
  const [fault, ...more] = await engine.check({ ...words, text }, samples)
  expect(more).toEqual([])
  expect(fault).toMatchObject({ part: 'text', line })
  expect(fault?.message).toContain(reason)
})

test("each text in a template's example data declares whether it may be empty, and samples follow from that", () => {
  // @ts-expect-error: 'Post' does not declare it
  const undecided: MailTemplateExample = { carrier: 'Post' }
  expect(undecided).toBeDefined()
  const line = { sku: nonEmptyExampleText('MUG-1'), variant: possiblyEmptyExampleText('Green'), quantity: 2 }
  const {
    example,
    minimal: least,
    maximal: most
  } = createMailTemplateSamples({ carrier: possiblyEmptyExampleText('Post'), lines: [line, line] })
  const full = { sku: 'MUG-1', variant: 'Green', quantity: 2 }
  expect(example).toEqual({ carrier: 'Post', lines: [full, full] })
  expect(least).toEqual({ carrier: '', lines: [{ ...full, variant: '' }] })
  expect(most).toEqual({ carrier: 'Post', lines: Array(10).fill(full) })
})
