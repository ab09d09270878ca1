import { chosenMarket } from './memory.js'

const TRIES = 4
const TIMEOUT_MS = 20_000
const WAIT_SECONDS_MAX = 10

/** What the API refused, or could not do: `status` and the members of its problem. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body.code ?? body.error ?? 'no answer')
    Object.assign(this, body, { status })
  }
  /** Whether it may have been done all the same, so that the same request is to be sent again. */
  get isOpen() {
    return this.status === 0 || this.status >= 500 || this.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
  }
}

/** A random UUID. `crypto.randomUUID` is not there for pages that came by plain HTTP from another machine. */
export function newKey() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0'))
  return hex.join('').replace(/^(.{8})(.{4}).(.{3})(.{4})(.{12})$/, '$1-$2-4$3-$4-$5')
}

/**
 * Asks the API. What changes something carries a key, so that what got no answer, or came at a bad moment, is sent again and
 * still done once.
 */
export async function call(method, path, { body, headers = {}, key = newKey() } = {}) {
  const market = chosenMarket.get()
  const request = {
    method,
    headers: {
      ...headers,
      ...(market !== undefined && { 'x-market': market }),
      ...(method !== 'GET' && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' })
    },
    ...(body !== undefined && { body: JSON.stringify(body) })
  }
  for (let tries = 1; ; tries += 1) {
    const { refusal, content, retryAfter } = await attempt(path, request)
    if (refusal === undefined) return content
    const comesBack = refusal.status === 0 || retryAfter !== null
    const seconds = Number(retryAfter) || tries
    if (!comesBack || tries === TRIES || seconds > WAIT_SECONDS_MAX) throw refusal
    await new Promise(resolve => setTimeout(resolve, seconds * 1_000))
  }
}

async function attempt(path, request) {
  try {
    const answer = await fetch(`/api${path}`, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const content = answer.status === 204 ? null : await answer.json()
    if (answer.ok) return { content }
    return { refusal: new Refusal(answer.status, content), retryAfter: answer.headers.get('retry-after') }
  } catch {
    return { refusal: new Refusal(0, {}), retryAfter: null }
  }
}

/** `detail` is for developers; these are the words for shoppers. */
const WORDS = {
  AUTH_INVALID_CREDENTIALS: 'This e-mail address and password do not belong together.',
  AUTH_ONE_TIME_TOKEN_INVALID:
    'This link is not valid any more. Please use the one of the newest mail, or ask for another.',
  CART_CHANGED: 'The cart has changed meanwhile. Please look at it again.',
  CART_EMPTY: 'There is nothing in the cart any more. Perhaps it was ordered in another window.',
  CART_LINE_LIMIT: 'The cart is full: no more different things fit into it.',
  CART_VARIANT_UNAVAILABLE: 'This is not for sale at present.',
  CATALOG_PRODUCT_NOT_FOUND: 'This is not sold here, or not any more.',
  CATALOG_VARIANT_NOT_FOUND: 'This is not sold here, or not any more.',
  INVALID_CURSOR: 'This page of the list is not there any more. Please begin with the first one.',
  ORDER_NOT_FOUND: 'There is no such order, or the link to it is not complete.',
  ORDER_NOT_CANCELABLE: 'This order cannot be canceled any more.',
  ORDER_PENDING_LIMIT:
    'Several of your orders wait for their payment. Please pay or cancel one of them first.',
  ORDER_PRICE_CHANGED: 'The price has changed. Please look at it again before you order.',
  PAYMENT_NOTHING_DUE: 'Nothing is left to be paid.',
  PAYMENT_OPERATION_OPEN: 'The payment is being looked at. Please try again in a few seconds.',
  PAYMENT_ORDER_FROZEN: 'The order is being canceled, so it cannot be paid.',
  SHIPPING_NOT_AVAILABLE: 'It is not sent there in this way. Please choose another delivery.'
}

/** What to tell a shopper, one sentence or more. `nameOf`: what variants are called. */
export function wordsOf(error, nameOf = () => undefined) {
  if (!(error instanceof Refusal)) {
    console.error(error)
    return ['Something is wrong with this page.']
  }
  if (error.status === 0) return ['The shop cannot be reached. Please try again.']
  // Its message was written for shoppers, by whoever looks after the shop.
  if (error.code === 'SHOP_IN_MAINTENANCE')
    return [error.message ?? 'The shop is being worked on. Please come back later.']
  if (error.status === 429) return ['That was too much at once. Please wait a moment.']
  if (error.code === 'CART_INSUFFICIENT_STOCK') return [`There are only ${error.available} of this.`]
  if (error.code === 'CART_QUANTITY_LIMIT') return [`No more than ${error.limit} of this at once.`]
  if (error.code === 'CART_QUANTITY_RULE') return [quantityWords(error)]
  const found = error.items ?? (error.code === 'ORDER_CODE_REFUSED' ? error.findings : undefined)
  if (Array.isArray(found) && found.length > 0) return found.map(each => findingWords(each, nameOf))
  if (error.code in WORDS) return [WORDS[error.code]]
  if (Array.isArray(error.errors))
    return error.errors.map(({ path, message }) => `${lastOf(path)} ${message}`)
  return [`That did not work (${error.message}). Please try again.`]
}

/** A finding of a checkout, or a line that an order was refused for. */
export function findingWords(finding, nameOf) {
  const { message = 'There is not enough of this.', variant_id, promotion_code, field, available } = finding
  const about = nameOf(variant_id) ?? promotion_code ?? (field && lastOf(field))
  const left = available > 0 ? ` ${available} left.` : ''
  return (about === undefined ? message : `${about}: ${message}`) + left
}

export function quantityWords({ quantity_min, quantity_max, quantity_step }) {
  const most = quantity_max === null ? '' : ` to ${quantity_max}`
  const steps = quantity_step === 1 ? '' : `, in multiples of ${quantity_step}`
  return `This is sold from ${quantity_min}${most}${steps}.`
}

const lastOf = path => path.split('/').at(-1).replaceAll('_', ' ')
