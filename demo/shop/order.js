import { addressElement } from './addresses.js'
import { call } from './api.js'
import { announce, disableWhile, el, link, page, problemElement, showProblem } from './dom.js'
import { errorTexts } from './errors.js'
import { money } from './money.js'
import { linkToOrder, markOrderShown } from './placement.js'
import { callAsCustomer, isLoggedIn } from './session.js'
import { forgetOrder, storeOrder, tokenOfOrder } from './storage.js'
import { deliveryDaysText, priceSummary } from './summary.js'
import { formatDate, formatTime, t } from './texts.js'

const SOON_MS = 2_000
const LATER_MS = 15_000
const TRIES_MAX = 5

// Guests send the token of the order, customers their access token. Each has separate routes.
const guestRoutes = token => ({
  of: '/guest',
  send: (method, path, options) => call(method, path, { ...options, headers: { 'x-order-token': token } })
})
const customerRoutes = { of: '', send: callAsCustomer }

/** `#/orders/:id/:token`: the order, read again while the page is shown. This browser stores the tokens of its orders. */
export function order({ parts: [id, given], reload }) {
  const token = given ?? tokenOfOrder(id)
  return orderPage(token === undefined ? customerRoutes : guestRoutes(token), { id, token, reload })
}

async function orderPage({ of, send }, { id, token, reload }) {
  // Encoded, so that an id in a link cannot change the path.
  const pathId = encodeURIComponent(id)
  /** Returns no items when the module is switched off. */
  const optional = path =>
    send('GET', path)
      .then(({ items }) => items)
      .catch(() => [])
  const read = async () => {
    const [order, payments, parcels] = await Promise.all([
      send('GET', `/orders${of}/${pathId}`),
      optional(`/payments${of}/by-order/${pathId}`),
      optional(`/shipping${of}/order/${pathId}`)
    ])
    return { order, payments, parcels }
  }
  const first = await read()
  const { number, created_at: at } = first.order
  if (token !== undefined) storeOrder({ id, token, number, at })
  markOrderShown(id)

  const status = el('div', { role: 'status', class: 'status' })
  const actions = el('div', { class: 'actions' })
  const problem = problemElement()
  const summary = el('div', { class: 'summary' })
  let shown = ''

  function show({ order, payments, parcels }) {
    const state = JSON.stringify([
      order.version,
      order.status,
      payments.map(each => each.status),
      parcels.map(each => each.status),
      order.next_actions
    ])
    if (state === shown) return
    shown = state
    status.replaceChildren(...statusElements(order, payments))
    actions.replaceChildren(...actionsOf(order, payments))
    summary.replaceChildren(...priceSummary(order).flat(), ...refundsOf(order), ...deliveryOf(order, parcels))
  }
  async function refresh() {
    const now = await read()
    show(now)
    return now
  }
  /** Reads the order again while the page is shown: after 2 s while a payment is expected, otherwise after 15 s. */
  function watch({ order }) {
    const isOpen = order.status === 'pending'
    if (['completed', 'canceled'].includes(order.status)) return
    setTimeout(
      async () => {
        if (!status.isConnected) return
        watch(document.hidden ? { order } : await refresh().catch(() => ({ order })))
      },
      isOpen ? SOON_MS : LATER_MS
    )
  }

  const button = (label, kind, work) => {
    const element = el(
      'button',
      { class: kind, onclick: () => disableWhile(element, () => runAction(work)) },
      label
    )
    return element
  }
  async function runAction(work) {
    showProblem(problem)
    try {
      await work()
    } catch (error) {
      showProblem(problem, ...errorTexts(error))
      await refresh().catch(() => {})
    }
  }
  const actionsOf = ({ next_actions, total, currency }, payments) =>
    [
      next_actions.includes('pay') &&
        !hasPayment(payments) &&
        button(t.order.pay(money(total, currency)), 'main', () => pay(id, { of, send }, problem)),
      next_actions.includes('cancel') && button(t.order.cancel, '', cancel),
      token !== undefined && isLoggedIn() && button(t.order.claim, '', claim)
    ].filter(Boolean)
  async function cancel() {
    if (!confirm(t.order.cancelQuestion)) return
    await send('POST', `/orders${of}/${pathId}/cancel`)
    announce(t.order.canceling)
    await refresh()
  }
  /** Moves the order to the account. Its token is invalid afterwards. */
  async function claim() {
    await callAsCustomer('POST', `/orders/${pathId}/claim`, { headers: { 'x-order-token': token } })
    forgetOrder(id)
    announce(t.order.claimed)
    if (location.hash === linkToOrder({ id })) await reload()
    else location.replace(linkToOrder({ id }))
  }

  show(first)
  watch(first)
  return page(
    t.order.title(number),
    status,
    problem,
    actions,
    summary,
    token !== undefined &&
      el('p', { class: 'soft' }, t.order.link, link(linkToOrder({ id, token }), t.order.linkName))
  )
}

const hasPayment = payments => payments.some(({ status }) => ['authorized', 'succeeded'].includes(status))

/** Starts or continues the payment: redirects to the provider's page, or shows the provider's instructions. */
async function pay(orderId, { of, send }, problem) {
  for (let tries = 1; ; tries += 1) {
    const { redirect_url, action } = await send('POST', `/payments${of}/intent`, {
      body: { order_id: orderId }
    })
    if (redirect_url !== undefined) {
      const target = new URL(redirect_url)
      // Without the order token, which the provider must not see. This browser has stored it.
      target.searchParams.set('return_url', `${location.origin}${location.pathname}#/orders/${orderId}`)
      return location.assign(target)
    }
    if (action !== undefined) return showProblem(problem, action.text, t.order.reference(action.reference))
    if (tries === TRIES_MAX) return showProblem(problem, t.order.noAnswer)
    await new Promise(resolve => setTimeout(resolve, SOON_MS))
  }
}

function statusElements(order, payments) {
  const { status, payment_status, terms, expires_at, cancel_requested_at } = order
  const last = payments.at(-1)
  const isWaiting = status === 'pending' && terms === 'prepaid' && payment_status === 'unpaid'
  const paymentWords =
    (payment_status === 'unpaid' && t.order.terms[terms]) || t.order.payments[payment_status]
  return [
    el('p', { class: `badge ${status}` }, t.order.status[cancel_requested_at ? 'canceling' : status]),
    payment_status !== null && el('p', { id: 'payment' }, t.order.payment(paymentWords)),
    isWaiting &&
      last !== undefined &&
      t.order.attempts[last.status] &&
      el('p', { class: 'finding' }, t.order.attempts[last.status]),
    isWaiting && last === undefined && el('p', {}, t.order.paidFirst),
    isWaiting && expires_at !== null && el('p', {}, t.order.payUntil(formatTime(expires_at)))
  ].filter(Boolean)
}

function refundsOf({ adjustments, currency }) {
  const refunds = adjustments.filter(({ back }) => back > 0)
  if (refunds.length === 0) return []
  const lines = refunds.map(({ back, at }) =>
    el('p', {}, t.order.refunded(money(back, currency), formatDate(at)))
  )
  return [el('h2', {}, t.order.refunds), ...lines]
}

function deliveryOf({ shipping_address, groups, email }, parcels) {
  return [
    el('h2', {}, t.order.delivery),
    ...groups
      .filter(({ shipping_option }) => shipping_option !== null)
      .map(({ shipping_option: { service, provider, estimated_days } }) =>
        el('p', {}, [service, provider, deliveryDaysText(estimated_days)].filter(Boolean).join(' · '))
      ),
    ...parcels.filter(({ method }) => method === 'shipping').map(parcelOf),
    shipping_address && addressElement(shipping_address),
    email && el('p', { class: 'soft' }, email)
  ].filter(Boolean)
}

const parcelOf = ({ status, sent_at, carrier, tracking_number, tracking_url }) =>
  el(
    'p',
    { class: 'parcel' },
    [t.order.parcel, carrier, tracking_number].filter(Boolean).join(' '),
    `: ${t.order.parcels[sent_at === null ? 'preparing' : status]}. `,
    tracking_url && link(tracking_url, t.order.track)
  )
