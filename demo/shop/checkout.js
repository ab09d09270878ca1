import { addressForm } from './address.js'
import { savedAddresses, savedChoice } from './addresses.js'
import { readCart } from './carts.js'
import { cartReference, openCheckout, saveCheckout } from './checkouts.js'
import { codesField, deliveryField } from './choices.js'
import { announce, disableWhile, el, link, page, problemElement, showProblem } from './dom.js'
import { errorTexts, fieldFindingText, findingText } from './errors.js'
import { checkbox, emailField, field, fieldErrors, showFieldError } from './forms.js'
import { money } from './money.js'
import { linkToOrder, newOrderRequest, placeOrder, unansweredOrder } from './placement.js'
import { callAsCustomer, isLoggedIn, LoginRequired } from './session.js'
import { priceSummary } from './summary.js'
import { t } from './texts.js'

const ADDRESS = 'shipping_address'

/** `#/checkout`: contact, address, shipping method and codes, with the total. */
export async function checkout({ markets }) {
  const sent = unansweredOrder()
  if (sent !== undefined) return retryPage(sent)
  const cart = await readCart()
  if (cart.items.length + cart.unavailable_items.length === 0)
    return page(
      t.checkout.title,
      el('p', { class: 'empty' }, t.cart.empty, ' ', link('#/', t.cart.lookAround))
    )
  const customer = isLoggedIn() ? await readCustomer() : undefined
  const saved = customer?.addresses.find(each => each.default_shipping)?.address
  return checkoutForm(await openCheckout(saved ?? { country: firstCountry(markets) }), customer)
}

async function readCustomer() {
  const [{ email }, addresses] = await Promise.all([callAsCustomer('GET', '/auth/me'), savedAddresses()])
  return { email, addresses }
}

/** The first country of the market, or the region of the browser when the market includes it. */
function firstCountry(markets) {
  const sold = markets.current?.countries ?? []
  const own = new Intl.Locale(navigator.language).maximize().region ?? 'US'
  return sold.length === 0 || sold.includes(own) ? own : sold[0]
}

/** `customer` is undefined for guests. */
async function checkoutForm(first, customer) {
  let now = first
  let [saving, hasChanges] = [undefined, false]
  /** Error texts by field name, of a request that the shop rejected as a whole. */
  let rejectedFields = new Map()
  const touched = new Set()
  const entered = { option: first.shipping_option, codes: [...first.codes] }

  const summary = el('div', { class: 'summary' })
  const findings = el('div', { role: 'status' })
  const address = addressForm({
    path: ADDRESS,
    legend: t.checkout.address,
    address: first.shipping_address,
    country: first.shipping_address?.country
  })
  const delivery = deliveryField()
  const problem = problemElement()
  const button = el('button', { class: 'main' }, t.checkout.order)
  const codes = codesField(entered, () => update())
  const note = el('textarea', { rows: 2, maxlength: 2000 }, first.note ?? '')
  const saved = savedChoice(customer?.addresses ?? [], first.shipping_address, async chosen => {
    await address.fill(chosen ?? { country: address.read().country })
    update()
  })
  const saveAddressBox = customer ? checkbox('', t.checkout.saveAddress, false) : null
  const contact = customer
    ? [el('p', {}, t.checkout.loggedInAs(customer.email))]
    : [
        emailField('email', t.checkout.email, first.email ?? ''),
        el('p', {}, link('#/log-in/checkout', t.checkout.logIn))
      ]
  const element = el(
    'form',
    { class: 'checkout', novalidate: true, onsubmit: order, onchange: changed },
    el(
      'div',
      {},
      el('fieldset', {}, el('legend', {}, t.checkout.contact), contact),
      saved,
      address.element,
      saveAddressBox,
      delivery.element,
      el(
        'fieldset',
        {},
        el('legend', {}, t.checkout.extras),
        codes.element,
        field('note', t.checkout.note, {}, note)
      )
    ),
    el('aside', { 'aria-label': t.checkout.costs }, summary, findings, problem, button)
  )
  const input = name => element.elements[name]

  async function changed({ target }) {
    if (target.name === '') return
    touched.add(target.name)
    if (target.name === 'shipping_option') entered.option = target.value
    // When the regions of the country cannot be read, the findings of the checkout still name missing fields.
    if (target.name === `${ADDRESS}/country`) await address.showCountry().catch(() => {})
    update()
  }

  /** Saves all entries, one request at a time. Saves again when the shopper changed an entry meanwhile. */
  function update() {
    hasChanges = true
    saving ??= saveChanges().finally(() => {
      saving = undefined
    })
    return saving
  }
  async function saveChanges() {
    summary.setAttribute('aria-busy', 'true')
    showProblem(problem)
    try {
      while (hasChanges) {
        hasChanges = false
        if (customer && !isLoggedIn()) throw new LoginRequired()
        now = await saveCheckout(body())
      }
      rejectedFields = new Map()
      return true
    } catch (error) {
      rejectedFields = fieldErrors(error, element)
      if (rejectedFields.size === 0) showProblem(problem, ...errorTexts(error, nameOf))
      return false
    } finally {
      summary.removeAttribute('aria-busy')
      show()
    }
  }
  const textOf = name => input(name)?.value.trim() ?? ''
  const body = () => ({
    ...cartReference(),
    shipping_address: address.read(),
    codes: entered.codes,
    ...(textOf('email') !== '' && { email: textOf('email') }),
    ...(entered.option !== null && { shipping_option: entered.option }),
    ...(textOf('note') !== '' && { note: textOf('note') })
  })
  const nameOf = id =>
    [...now.items, ...now.unavailable_items].find(({ variant_id }) => variant_id === id)?.name

  function show() {
    summary.replaceChildren(...priceSummary(now).flat())
    codes.show(now)
    delivery.show(now)
    address.markRequired()
    button.textContent = t.checkout.orderFor(money(now.total, now.currency))
    const faults = new Map([
      ...now.findings.filter(fieldOf).map(each => [fieldOf(each), [fieldFindingText(each)]]),
      ...rejectedFields
    ])
    // A field shows its error only after the shopper has changed it or tried to order.
    for (const each of element.elements)
      if (each.name === 'email' || each.name.startsWith(ADDRESS))
        showFieldError(each, touched.has(each.name) ? faults.get(each.name) : undefined)
    const others = now.findings.filter(each => !fieldOf(each) && !each.code.startsWith('CODE_'))
    findings.replaceChildren(...others.map(each => el('p', { class: 'finding' }, findingText(each, nameOf))))
  }

  function order(event) {
    event.preventDefault()
    const shownTotal = now.total
    return disableWhile(button, async () => {
      const before = unansweredOrder()
      if (before !== undefined) return send(before)
      const isSaved = await update()
      for (const each of element.elements) touched.add(each.name)
      show()
      if (!isSaved || !now.ready) return showIncomplete()
      if (now.total !== shownTotal)
        return showProblem(problem, t.checkout.priceNow(money(now.total, now.currency)))
      return send(newOrderRequest({ ...body(), market: now.market, expected_total: now.total }))
    })
  }
  async function send(sent) {
    try {
      const order = await placeOrder(sent)
      if (saveAddressBox?.querySelector('input').checked) saveAddress(sent.body.shipping_address)
      location.hash = linkToOrder(order)
    } catch (error) {
      const words = errorTexts(error, nameOf)
      if (unansweredOrder() === undefined) await update()
      showProblem(problem, ...words)
    }
  }
  function showIncomplete() {
    const invalid = element.querySelector('[aria-invalid="true"]')
    invalid?.focus()
    announce(t.checkout.incomplete)
    if (problem.hidden && invalid !== null) showProblem(problem, t.form.incomplete)
  }

  await address.showCountry(first.shipping_address?.region).catch(() => {})
  show()
  return page(t.checkout.title, element)
}

/** Ignores errors, because the order is placed even when the account cannot have another address. */
const saveAddress = address =>
  callAsCustomer('POST', '/auth/addresses', { body: { address } }).catch(() => {})

const fieldOf = ({ code, field }) => (code === 'EMAIL_MISSING' ? 'email' : field)

/** Shown when the page was left or reloaded before the response to an order. */
function retryPage(sent) {
  const problem = problemElement()
  const button = el('button', { class: 'main', onclick: finish }, t.placing.retry)
  function finish() {
    showProblem(problem)
    return disableWhile(button, async () => {
      try {
        location.hash = linkToOrder(await placeOrder(sent))
      } catch (error) {
        showProblem(problem, ...errorTexts(error))
        if (unansweredOrder() === undefined) problem.append(el('p', {}, link('#/cart', t.placing.toCart)))
      }
    })
  }
  finish()
  return page(t.placing.title, el('p', {}, t.placing.waiting), problem, button)
}
