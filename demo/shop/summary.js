import { el, link } from './dom.js'
import { money } from './money.js'
import { locale, t } from './texts.js'

/** The lines and totals of a checkout or an order. */
export function priceSummary(priced) {
  const { currency, subtotal, discount_total, shipping_total, tax_added, tax_summary, cash_rounding, total } =
    priced
  const sum = (name, amount, kind) =>
    el('div', { class: kind }, el('dt', {}, name), el('dd', {}, money(amount, currency)))
  return [
    el(
      'ul',
      { class: 'bought' },
      priced.items.map(({ product_id, name, variant_name, metadata, quantity, line_total }) =>
        el(
          'li',
          {},
          el(
            'span',
            {},
            `${quantity} × `,
            link(`#/products/${product_id}`, name),
            variant_name && el('span', { class: 'soft' }, ` ${variant_name}`),
            // Such as an engraving.
            Object.values(metadata).map(value => el('span', { class: 'soft' }, ` ${value}`))
          ),
          el('span', { class: 'amount' }, money(line_total, currency))
        )
      )
    ),
    el(
      'dl',
      { class: 'sums' },
      sum(t.summary.items, subtotal),
      discount_total > 0 && sum(t.summary.discounts, -discount_total),
      sum(t.summary.delivery, shipping_total),
      tax_added > 0 && sum(t.summary.taxes, tax_added),
      cash_rounding !== 0 && sum(t.summary.rounding, cash_rounding),
      sum(t.summary.total, total, 'total'),
      tax_added === 0 &&
        tax_summary.map(({ rate_ppm, tax }) => sum(t.summary.taxOf(percentText(rate_ppm)), tax, 'soft'))
    )
  ]
}

const percentText = ppm => (ppm / 10_000).toLocaleString(locale)

/** Returns the delivery time as text, or an empty text when it is unknown. */
export function deliveryDaysText(days) {
  if (days === null) return ''
  const { min, max } = days
  if (max === 0) return t.summary.today
  return t.summary.days({ min, max })
}
