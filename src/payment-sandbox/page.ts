import { formatMoney } from '../kernel/money.ts'
import type { SandboxIntent } from './objects.ts'

const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

/** Accepts only web pages, because a browser would run other URLs, such as javascript:. */
const isPage = (url: string) => /^https?:$/.test(URL.parse(url)?.protocol ?? '')

const moneyOf = ({ amount, currency }: SandboxIntent) => formatMoney('en', amount, currency.toUpperCase())

/** The page where a customer pays, without scripts. `returnUrl` is the page of the shop to return to; empty: none. */
export function renderSandboxPaymentPage(intent: SandboxIntent, returnUrl: string): string {
  const button = (outcome: string, words: string) =>
    `<button name="outcome" value="${outcome}">${words}</button>`
  const buttons: Record<string, string> = {
    requires_payment_method:
      button('pay', 'Pay') +
      button('authenticate', 'Pay with a card that requires authentication') +
      button('fail', 'Be declined'),
    requires_action: button('pay', 'Confirm that it is me') + button('fail', 'Refuse')
  }
  const form = buttons[intent.status]
  const wasDeclined = intent.status === 'requires_payment_method' && intent.last_payment_error !== null
  const hidden = (name: string, value: string) =>
    `<input type="hidden" name="${name}" value="${escaped(value)}">`
  const secret = hidden('client_secret', intent.client_secret)
  const back = isPage(returnUrl) ? `<p><a href="${escaped(returnUrl)}">Back to the shop</a></p>` : ''
  const todo =
    form === undefined
      ? ''
      : `<form method="post" action="/pay/${intent.id}">${secret}${back === '' ? '' : hidden('return_url', returnUrl)}${form}</form>`
  return document(
    `<p>No money is moved here. To be paid: <strong>${escaped(moneyOf(intent))}</strong>.</p>
<p role="status">${wasDeclined ? DECLINED : (STATUS[intent.status] ?? '')}</p>
${todo}${back === '' && form === undefined ? '<p>You can close this page.</p>' : back}`
  )
}

/** Shown when the payment does not exist or its secret is wrong. */
export const renderMissingPaymentPage = (): string =>
  document('<p role="status">There is no such payment. Go back to the shop and start the payment again.</p>')

const DECLINED = 'The payment was declined. Choose how it ends this time.'
const STATUS: Readonly<Record<string, string>> = {
  requires_payment_method: 'This payment waits for you. Choose how it ends.',
  requires_action: 'The bank of the card asks whether it is you.',
  requires_capture: 'The payment is authorized. The shop captures the money later.',
  succeeded: 'The payment succeeded.',
  canceled: 'The payment was canceled.'
}

const document = (content: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sandbox: no money is moved</title>
<style>body{font:1rem/1.5 system-ui;max-width:30rem;margin:3rem auto;padding:0 1rem}button{display:block;width:100%;margin:.5rem 0;padding:.7rem;font:inherit}</style>
<main><h1>Sandbox</h1>
${content}
</main></html>
`
