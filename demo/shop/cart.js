import { priceOf } from './browse.js'
import { readCart, removeFromCart, setQuantity } from './carts.js'
import { announce, disableWhile, el, link, page, picture, problemElement, showProblem } from './dom.js'
import { errorTexts } from './errors.js'
import { money } from './money.js'
import { t } from './texts.js'

/** `#/cart`: the lines of the cart at current prices. */
export async function cart() {
  const container = el('div')
  show(container, await readCart())
  return page(t.cart.title, container)
}

function show(container, content) {
  const { items, unavailable_items: unavailable, currency, subtotal, discount_total, total } = content
  if (items.length + unavailable.length === 0) {
    container.replaceChildren(el('p', { class: 'empty' }, t.cart.empty, ' ', link('#/', t.cart.lookAround)))
    return
  }
  const problem = problemElement()
  /** Shows the cart after a change. When the shop rejects the change, shows the current cart and the reason. */
  const change = async (work, announcement) => {
    showProblem(problem)
    container.setAttribute('aria-busy', 'true')
    try {
      show(container, await work())
      announce(announcement)
    } catch (error) {
      const current = await readCart().catch(() => content)
      show(container, current)
      showProblem(container.querySelector('.problem') ?? problem, ...errorTexts(error))
    } finally {
      container.removeAttribute('aria-busy')
    }
  }
  container.replaceChildren(
    el('ul', { class: 'lines' }, [
      ...items.map(item => line(item, currency, change)),
      ...unavailable.map(item => unavailableLine(item, change))
    ]),
    problem,
    el(
      'dl',
      { class: 'sums' },
      discount_total > 0 && sum(t.cart.subtotal, money(subtotal, currency)),
      discount_total > 0 && sum(t.cart.discounts, money(-discount_total, currency)),
      sum(t.cart.total, money(total, currency), 'total')
    ),
    el('p', { class: 'soft' }, t.cart.note),
    el('p', {}, items.length > 0 && el('a', { class: 'button main', href: '#/checkout' }, t.cart.checkout))
  )
}

const sum = (name, amount, kind) => el('div', { class: kind }, el('dt', {}, name), el('dd', {}, amount))

function line(item, currency, change) {
  const { id, name, slug, image_url, attributes, quantity, price, discounted_price, line_total } = item
  const named = nameOf(item)
  const input = el('input', {
    type: 'number',
    inputmode: 'numeric',
    min: 1,
    value: quantity,
    id: `quantity-${id}`,
    'aria-label': t.cart.quantityOf(named),
    onchange: async () => {
      if (!input.reportValidity() || input.value === '') return
      input.disabled = true
      await change(() => setQuantity(id, Number(input.value)), t.cart.changed)
      document.getElementById(`quantity-${id}`)?.focus()
    }
  })
  return el(
    'li',
    {},
    picture(image_url),
    el(
      'div',
      { class: 'what' },
      link(`#/products/${encodeURIComponent(slug)}`, name),
      el('span', { class: 'soft' }, Object.values(attributes).join(', ')),
      metadataOf(item),
      el('span', {}, priceOf(price, discounted_price, currency)),
      !item.available &&
        el('span', { class: 'problem' }, item.stock === 0 ? t.cart.soldOut : t.cart.tooMany(item.stock ?? 0))
    ),
    input,
    el('span', { class: 'amount' }, money(line_total, currency)),
    removeButton(item, change)
  )
}

/** Lines of one variant can differ in their metadata, such as an engraving. */
const nameOf = ({ name, metadata }) => [name ?? t.cart.unnamed, ...Object.values(metadata)].join(', ')
const metadataOf = ({ metadata }) =>
  Object.values(metadata).map(value => el('span', { class: 'soft' }, value))

const unavailableLine = (item, change) =>
  el(
    'li',
    {},
    picture(null),
    el(
      'div',
      { class: 'what' },
      el('span', {}, item.name ?? t.cart.unnamed),
      metadataOf(item),
      el('span', { class: 'problem' }, t.cart.gone)
    ),
    el('span', {}, `${item.quantity}`),
    el('span', { class: 'amount' }, '—'),
    removeButton(item, change)
  )

function removeButton(item, change) {
  const named = nameOf(item)
  const button = el(
    'button',
    {
      type: 'button',
      'aria-label': t.cart.removeNamed(named),
      onclick: () => disableWhile(button, () => change(() => removeFromCart(item.id), t.cart.removed(named)))
    },
    t.form.remove
  )
  return button
}
