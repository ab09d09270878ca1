import { el, link, page } from './dom.js'
import { linkToOrder } from './placement.js'
import { callAsCustomer, isLoggedIn } from './session.js'
import { guestOrders } from './storage.js'
import { formatDate, t } from './texts.js'

/** `#/orders?cursor=…`: the orders of the customer, and the guest orders of this browser. */
export async function orders({ query }) {
  const known = guestOrders()
  const own = isLoggedIn()
    ? await callAsCustomer(
        'GET',
        `/orders?${new URLSearchParams({ limit: '20', ...Object.fromEntries(query) })}`
      )
    : { items: [], next_cursor: null }
  if (own.items.length + known.length === 0) {
    const words = isLoggedIn() ? [t.orders.none] : [t.orders.noneKnown, ' ', link('#/log-in', t.menu.logIn)]
    return page(t.orders.title, el('p', { class: 'empty' }, words, ' ', link('#/', t.cart.lookAround)))
  }
  return page(
    t.orders.title,
    el('ul', { class: 'orders' }, own.items.map(ownLine)),
    own.next_cursor !== null &&
      link(`#/orders?${new URLSearchParams({ cursor: own.next_cursor })}`, t.orders.older),
    known.length > 0 && isLoggedIn() && el('h2', {}, t.orders.guests),
    el('ul', { class: 'orders' }, known.map(knownLine)),
    !isLoggedIn() && el('p', {}, link('#/guest-data', t.guestData.title))
  )
}

const ownLine = ({ id, number, created_at, status }) =>
  el(
    'li',
    {},
    link(linkToOrder({ id }), number),
    ` ${t.orders.of(formatDate(created_at))} `,
    el('span', { class: 'soft' }, t.order.status[status])
  )
const knownLine = ({ id, token, number, at }) =>
  el('li', {}, link(linkToOrder({ id, token }), number), ` ${t.orders.of(formatDate(at))}`)
