import { wordsOf } from './api.js'
import { readCart, removeFromCart, setQuantity } from './basket.js'
import { priceOf } from './browse.js'
import { busy, el, link, page, picture, problemPlace, say, tell } from './dom.js'
import { money } from './money.js'

/** `#/cart`: what is in it, and what that costs now. */
export async function cart() {
  const place = el('div')
  show(place, await readCart())
  return page('Cart', place)
}

function show(place, content) {
  const { items, unavailable_items: gone, currency, subtotal, discount_total, total } = content
  if (items.length + gone.length === 0) {
    place.replaceChildren(
      el('p', { class: 'empty' }, 'There is nothing in the cart. ', link('#/', 'Look around'))
    )
    return
  }
  const problem = problemPlace()
  /** Shows the cart as it is afterwards; when that is refused, as it is. */
  const change = async (work, words) => {
    tell(problem)
    place.setAttribute('aria-busy', 'true')
    try {
      show(place, await work())
      say(words)
    } catch (error) {
      const again = await readCart().catch(() => content)
      show(place, again)
      tell(place.querySelector('.problem') ?? problem, ...wordsOf(error))
    } finally {
      place.removeAttribute('aria-busy')
    }
  }
  place.replaceChildren(
    el('ul', { class: 'lines' }, [
      ...items.map(item => line(item, currency, change)),
      ...gone.map(item => goneLine(item, change))
    ]),
    problem,
    el(
      'dl',
      { class: 'sums' },
      discount_total > 0 && sum('Before discounts', money(subtotal, currency)),
      discount_total > 0 && sum('Discounts', money(-discount_total, currency)),
      sum('Together', money(total, currency), 'total')
    ),
    el('p', { class: 'soft' }, 'Delivery and taxes are added when it is known where it goes.'),
    el('p', {}, items.length > 0 && el('a', { class: 'button main', href: '#/checkout' }, 'To the checkout'))
  )
}

const sum = (name, amount, kind) => el('div', { class: kind }, el('dt', {}, name), el('dd', {}, amount))

function line(item, currency, change) {
  const { variant_id, name, slug, image_url, attributes, quantity, price, discounted_price, line_total } =
    item
  const input = el('input', {
    type: 'number',
    inputmode: 'numeric',
    min: 1,
    value: quantity,
    id: `quantity-${variant_id}`,
    'aria-label': `How many: ${name}`,
    onchange: async () => {
      if (!input.reportValidity() || input.value === '') return
      input.disabled = true
      await change(() => setQuantity(variant_id, Number(input.value)), 'The cart was changed.')
      document.getElementById(`quantity-${variant_id}`)?.focus()
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
      el('span', {}, priceOf(price, discounted_price, currency)),
      !item.available &&
        el(
          'span',
          { class: 'problem' },
          item.stock === 0 ? 'Sold out' : `Not available like this: ${item.stock ?? 0} left.`
        )
    ),
    input,
    el('span', { class: 'amount' }, money(line_total, currency)),
    removeButton(item, name, change)
  )
}

const goneLine = (item, change) =>
  el(
    'li',
    {},
    picture(null),
    el(
      'div',
      { class: 'what' },
      el('span', {}, item.name ?? 'Something'),
      el('span', { class: 'problem' }, 'This is not for sale any more, and costs nothing here.')
    ),
    el('span', {}, `${item.quantity}`),
    el('span', { class: 'amount' }, '—'),
    removeButton(item, item.name, change)
  )

function removeButton({ variant_id }, name, change) {
  const button = el(
    'button',
    {
      type: 'button',
      'aria-label': `Remove ${name ?? 'it'}`,
      onclick: () =>
        busy(button, () => change(() => removeFromCart(variant_id), `${name ?? 'It'} was removed.`))
    },
    'Remove'
  )
  return button
}
