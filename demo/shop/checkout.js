import { addressForm, field, readAddress } from './address.js'
import { findingWords, wordsOf } from './api.js'
import { readCart } from './basket.js'
import { ofCart, openCheckout, sayAnew } from './checkouts.js'
import { codesField, deliveryField } from './choices.js'
import { busy, el, link, page, problemPlace, say, tell } from './dom.js'
import { money } from './money.js'
import { linkToOrder, newOrder, place, unanswered } from './placing.js'
import { summaryOf } from './summary.js'

/** `#/checkout`: who buys, where it goes, how, and what all of it costs. */
export async function checkout({ markets }) {
  const sent = unanswered()
  if (sent !== undefined) return answerLater(sent)
  const cart = await readCart()
  if (cart.items.length + cart.unavailable_items.length === 0)
    return page(
      'Checkout',
      el('p', { class: 'empty' }, 'There is nothing in the cart. ', link('#/', 'Look around'))
    )
  return form(await openCheckout(firstCountry(markets)))
}

/** The one of the market, or else the one that the browser is set to. */
function firstCountry(markets) {
  const sold = markets.current?.countries ?? []
  const own = new Intl.Locale(navigator.language).maximize().region ?? 'US'
  return sold.length === 0 || sold.includes(own) ? own : sold[0]
}

async function form(first) {
  let now = first
  let [isRunning, isLate] = [undefined, false]
  /** What was so wrong that nothing was taken. */
  let refused = []
  const touched = new Set()
  const said = { option: first.shipping_option, codes: [...first.codes] }

  const summary = el('div', { class: 'summary' })
  const findings = el('div', { role: 'status' })
  const address = addressForm(first.shipping_address, first.shipping_address?.country)
  const delivery = deliveryField()
  const problem = problemPlace()
  const button = el('button', { class: 'main' }, 'Order')
  const codes = codesField(said, () => update())
  const note = el('textarea', { rows: 2, maxlength: 2000 }, first.note ?? '')
  const element = el(
    'form',
    { class: 'checkout', novalidate: true, onsubmit: order, onchange: changed },
    el(
      'div',
      {},
      el(
        'fieldset',
        {},
        el('legend', {}, 'Who are you?'),
        field('email', 'E-mail', { type: 'email', autocomplete: 'email', value: first.email ?? '' })
      ),
      address.element,
      delivery.element,
      el(
        'fieldset',
        {},
        el('legend', {}, 'Anything else?'),
        codes.element,
        field('note', 'A note for the shop', {}, note)
      )
    ),
    el('aside', { 'aria-label': 'What it costs' }, summary, findings, problem, button)
  )
  const input = name => element.elements[name]

  async function changed({ target }) {
    if (target.name === '') return
    touched.add(target.name)
    if (target.name === 'shipping_option') said.option = target.value
    // Where that cannot be found out, the shop says what is missing.
    if (target.name === 'shipping_address/country') await address.showCountry().catch(() => {})
    update()
  }

  /** Says all of it anew, one time after the other, and once more when something was changed meanwhile. */
  function update() {
    isLate = true
    isRunning ??= run().finally(() => {
      isRunning = undefined
    })
    return isRunning
  }
  async function run() {
    summary.setAttribute('aria-busy', 'true')
    tell(problem)
    try {
      while (isLate) {
        isLate = false
        now = await sayAnew(body())
      }
      refused = []
      return true
    } catch (error) {
      refused = (error.errors ?? []).map(({ path, message }) => ({
        name: path.replace(/^body\//, ''),
        message
      }))
      const isShownBeside = refused.length > 0 && refused.every(({ name }) => input(name))
      if (!isShownBeside) tell(problem, ...wordsOf(error, nameOf))
      return false
    } finally {
      summary.removeAttribute('aria-busy')
      show()
    }
  }
  const body = () => ({
    ...ofCart(),
    shipping_address: readAddress(element),
    codes: said.codes,
    ...(input('email').value.trim() !== '' && { email: input('email').value.trim() }),
    ...(said.option !== null && { shipping_option: said.option }),
    ...(note.value.trim() !== '' && { note: note.value.trim() })
  })
  const nameOf = id =>
    [...now.items, ...now.unavailable_items].find(({ variant_id }) => variant_id === id)?.name

  function show() {
    summary.replaceChildren(...summaryOf(now).flat())
    codes.show(now)
    delivery.show(now)
    button.textContent = `Order for ${money(now.total, now.currency)}`
    const faults = new Map(
      now.findings.filter(each => fieldOf(each)).map(each => [fieldOf(each), each.message])
    )
    for (const { name, message } of refused) faults.set(name, message)
    for (const each of element.elements) if (/^(email|shipping_address\/)/.test(each.name)) mark(each, faults)
    const others = now.findings.filter(each => !fieldOf(each) && !each.code.startsWith('CODE_'))
    findings.replaceChildren(...others.map(each => el('p', { class: 'finding' }, findingWords(each, nameOf))))
  }
  /** That something is missing is told once somebody has been there; that it is required, at once. */
  function mark(each, faults) {
    const message = faults.get(each.name)
    const isShown = message !== undefined && touched.has(each.name)
    const isRequired = each.name === 'email' || address.isNeeded(each.name)
    each.setAttribute('aria-invalid', isShown)
    each.setAttribute('aria-required', isRequired)
    const row = each.parentElement
    row.querySelector('.wrong').textContent = isShown ? message : ''
    const isFilled = each.value !== '' || isRequired
    row.querySelector('label .soft').textContent = isFilled ? '' : ' (optional)'
  }

  function order(event) {
    event.preventDefault()
    const seen = now.total
    return busy(button, async () => {
      const before = unanswered()
      if (before !== undefined) return send(before)
      const isSaid = await update()
      for (const each of element.elements) touched.add(each.name)
      show()
      if (!isSaid || !now.ready) return complain()
      if (now.total !== seen)
        return tell(problem, `It costs ${money(now.total, now.currency)} now. Please look, and order again.`)
      return send(newOrder({ ...body(), market: now.market, expected_total: now.total }))
    })
  }
  async function send(sent) {
    try {
      location.hash = linkToOrder(await place(sent))
    } catch (error) {
      const words = wordsOf(error, nameOf)
      if (unanswered() === undefined) await update()
      tell(problem, ...words)
    }
  }
  function complain() {
    const invalid = element.querySelector('[aria-invalid="true"]')
    invalid?.focus()
    say('Something is still missing.')
    if (problem.hidden && invalid !== null)
      tell(problem, 'Some fields are missing or wrong; see beside them.')
  }

  await address.showCountry(first.shipping_address?.region).catch(() => {})
  show()
  return page('Checkout', element)
}

const fieldOf = ({ code, field }) => (code === 'EMAIL_MISSING' ? 'email' : field)

/** The page was left, or loaded again, before the answer was there. */
function answerLater(sent) {
  const problem = problemPlace()
  const button = el('button', { class: 'main', onclick: finish }, 'Ask again')
  function finish() {
    tell(problem)
    return busy(button, async () => {
      try {
        location.hash = linkToOrder(await place(sent))
      } catch (error) {
        tell(problem, ...wordsOf(error))
        if (unanswered() === undefined) problem.append(el('p', {}, link('#/cart', 'Back to the cart')))
      }
    })
  }
  finish()
  return page(
    'Your order is being placed',
    el('p', {}, 'The answer of the shop has not come yet.'),
    problem,
    button
  )
}
