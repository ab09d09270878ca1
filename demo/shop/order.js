import { logIn } from './account.js'
import { call, wordsOf } from './api.js'
import { countryName } from './countries.js'
import { busy, el, link, page, problemPlace, say, tell } from './dom.js'
import { accessToken, keepOrder, knownOrders, tokenOfOrder } from './memory.js'
import { money } from './money.js'
import { linkToOrder, orderIsShown } from './placing.js'
import { daysWords, summaryOf } from './summary.js'

const SOON_MS = 2_000
const LATER_MS = 15_000
const ASKED_MAX = 5

const STATUS = {
  pending: 'We have your order.',
  paid: 'It is paid, and is being looked after.',
  shipped: 'It is on its way.',
  completed: 'It is done.',
  canceled: 'It is canceled.'
}
const PAYMENT = {
  unpaid: 'not paid yet',
  authorized: 'held',
  partially_paid: 'paid in part',
  paid: 'paid',
  partially_refunded: 'given back in part',
  refunded: 'given back'
}
/** An order with these terms is looked after before it is paid. */
const LATER = { on_account: 'on account', cod: 'on delivery' }
/** What became of the last try to pay, where that is worth telling. */
const TRIED = {
  failed: 'The payment was declined. You can try again.',
  requires_action: 'The payment still has to be confirmed by you.',
  canceled: 'The payment was not made.'
}

/** `#/orders`: those that this browser knows. */
export function orders() {
  const known = knownOrders()
  return page(
    'Orders',
    known.length === 0
      ? el('p', { class: 'empty' }, 'This browser knows of no order. ', link('#/', 'Look around'))
      : el(
          'ul',
          { class: 'orders' },
          known.map(order =>
            el(
              'li',
              {},
              link(linkToOrder(order), order.number),
              ` of ${new Date(order.at).toLocaleDateString()}`
            )
          )
        )
  )
}

/** Who has no account shows the token of an order, others who they are; each has routes of their own. */
const asGuest = token => ({ of: '/guest', headers: { 'x-order-token': token } })
const asOwner = () => ({ of: '', headers: { authorization: `Bearer ${accessToken.get()}` } })

/**
 * `#/orders/:id/:token`: the order, as it is from moment to moment. Without a token this browser knows it, or it belongs to an
 * account; then `again` shows it to who has logged in.
 */
export async function order({ parts: [id, given] }, again) {
  const token = given ?? tokenOfOrder(id)
  if (token !== undefined) return shownTo(asGuest(token), id, token)
  if (accessToken.get() === undefined) return logIn(again)
  try {
    return await shownTo(asOwner(), id)
  } catch (error) {
    if (error.status !== 401) throw error
    accessToken.forget()
    return logIn(again)
  }
}

async function shownTo({ of, headers }, id, token) {
  const read = async () => {
    const [order, payments] = await Promise.all([
      call('GET', `/orders${of}/${id}`, { headers }),
      // Without the module payments nothing is paid here.
      call('GET', `/payments${of}/by-order/${id}`, { headers }).catch(() => ({ items: [] }))
    ])
    return { order, payments: payments.items }
  }
  const first = await read()
  const { number, created_at: at } = first.order
  keepOrder({ id, token, number, at })
  orderIsShown(id)

  const status = el('div', { role: 'status', class: 'status' })
  const actions = el('div')
  const problem = problemPlace()
  const summary = el('div', { class: 'summary' })
  let shown = ''

  function show({ order, payments }) {
    const state = JSON.stringify([
      order.version,
      order.status,
      payments.map(each => each.status),
      order.next_actions
    ])
    if (state === shown) return
    shown = state
    status.replaceChildren(...statusOf(order, payments))
    actions.replaceChildren(...actionsOf(order, payments))
    summary.replaceChildren(...summaryOf(order).flat(), ...placesOf(order))
  }
  async function again() {
    const now = await read()
    show(now)
    return now
  }
  /** As long as the page is there: soon while something is to be expected, later when not. */
  function watch({ order }) {
    const isOpen = order.status === 'pending'
    if (['completed', 'canceled'].includes(order.status)) return
    setTimeout(
      async () => {
        if (!status.isConnected) return
        watch(document.hidden ? { order } : await again().catch(() => ({ order })))
      },
      isOpen ? SOON_MS : LATER_MS
    )
  }

  const button = (words, kind, work) => {
    const element = el('button', { class: kind, onclick: () => busy(element, () => tried(work)) }, words)
    return element
  }
  async function tried(work) {
    tell(problem)
    try {
      await work()
    } catch (error) {
      tell(problem, ...wordsOf(error))
      await again().catch(() => {})
    }
  }
  const actionsOf = ({ next_actions, total, currency }, payments) => [
    ...(next_actions.includes('pay') && !isHeld(payments)
      ? [button(`Pay ${money(total, currency)}`, 'main', () => pay(id, { of, headers }, problem))]
      : []),
    ...(next_actions.includes('cancel') ? [button('Cancel the order', '', cancel)] : [])
  ]
  async function cancel() {
    if (!confirm('Cancel this order?')) return
    await call('POST', `/orders${of}/${id}/cancel`, { headers })
    say('The order is being canceled.')
    await again()
  }

  show(first)
  watch(first)
  return page(
    `Order ${number}`,
    status,
    problem,
    actions,
    summary,
    token !== undefined &&
      el(
        'p',
        { class: 'soft' },
        'Keep ',
        link(linkToOrder({ id, token }), 'this link'),
        ': whoever has it sees the order.'
      )
  )
}

const isHeld = payments => payments.some(({ status }) => ['authorized', 'succeeded'].includes(status))

/** Begins the payment, or goes on with the one that was begun, where the provider asks for it; and comes back here. */
async function pay(orderId, { of, headers }, place) {
  for (let asked = 1; ; asked += 1) {
    const { redirect_url, action } = await call('POST', `/payments${of}/intent`, {
      headers,
      body: { order_id: orderId }
    })
    if (redirect_url !== undefined) {
      const there = new URL(redirect_url)
      // Without the token: this browser knows it, and nobody else has to.
      there.searchParams.set('return_url', `${location.origin}${location.pathname}#/orders/${orderId}`)
      return location.assign(there)
    }
    if (action !== undefined) return tell(place, action.text, `Reference: ${action.reference}`)
    if (asked === ASKED_MAX)
      return tell(place, 'The payment service does not answer. Please try again later.')
    await new Promise(resolve => setTimeout(resolve, SOON_MS))
  }
}

function statusOf(order, payments) {
  const { status, payment_status, terms, expires_at, cancel_requested_at } = order
  const last = payments.at(-1)
  const isWaiting = status === 'pending' && terms === 'prepaid' && payment_status === 'unpaid'
  return [
    el('p', { class: `badge ${status}` }, cancel_requested_at ? 'It is being canceled.' : STATUS[status]),
    payment_status !== null &&
      el(
        'p',
        { id: 'payment' },
        `Payment: ${(payment_status === 'unpaid' && LATER[terms]) || PAYMENT[payment_status]}.`
      ),
    isWaiting &&
      last !== undefined &&
      TRIED[last.status] &&
      el('p', { class: 'finding' }, TRIED[last.status]),
    isWaiting && last === undefined && el('p', {}, 'It is looked after as soon as it is paid.'),
    isWaiting &&
      expires_at !== null &&
      el('p', {}, `It waits for its payment until ${momentWords(expires_at)}.`)
  ].filter(Boolean)
}

const momentWords = at =>
  new Date(at).toLocaleString(navigator.language, { dateStyle: 'medium', timeStyle: 'short' })

function placesOf({ shipping_address, groups, email }) {
  const { name, company, line1, line2, postal_code, city, region, country } = shipping_address ?? {}
  const town = [postal_code, city].filter(Boolean).join(' ')
  const lines = [name, company, line1, line2, town, region, country && countryName(country)]
  return [
    el('h2', {}, 'Delivery'),
    ...groups
      .filter(({ shipping_option }) => shipping_option !== null)
      .map(({ shipping_option: { service, provider, estimated_days } }) =>
        el('p', {}, [service, provider, daysWords(estimated_days)].filter(Boolean).join(' · '))
      ),
    shipping_address && el('address', {}, lines.filter(Boolean).join('\n')),
    email && el('p', { class: 'soft' }, email)
  ].filter(Boolean)
}
