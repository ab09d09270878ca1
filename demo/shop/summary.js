import { el } from './dom.js'
import { money } from './money.js'

/** What a checkout or an order costs, and what that is made of. */
export function summaryOf(priced) {
  const { currency, subtotal, discount_total, shipping_total, tax_added, tax_summary, cash_rounding, total } =
    priced
  const sum = (name, amount, kind) =>
    el('div', { class: kind }, el('dt', {}, name), el('dd', {}, money(amount, currency)))
  return [
    el(
      'ul',
      { class: 'bought' },
      priced.items.map(({ name, variant_name, quantity, line_total }) =>
        el(
          'li',
          {},
          el(
            'span',
            {},
            `${quantity} × ${name}`,
            variant_name && el('span', { class: 'soft' }, ` ${variant_name}`)
          ),
          el('span', { class: 'amount' }, money(line_total, currency))
        )
      )
    ),
    el(
      'dl',
      { class: 'sums' },
      sum('Things', subtotal),
      discount_total > 0 && sum('Discounts', -discount_total),
      sum('Delivery', shipping_total),
      tax_added > 0 && sum('Taxes', tax_added),
      cash_rounding !== 0 && sum('Rounding', cash_rounding),
      sum('Total', total, 'total'),
      tax_added === 0 &&
        tax_summary.map(({ rate_ppm, tax }) => sum(`Of it ${rate_ppm / 10_000} % tax`, tax, 'soft'))
    )
  ]
}

/** In how many days it comes, if that is known. */
export function daysWords(days) {
  if (days === null) return ''
  const { min, max } = days
  if (max === 0) return 'today'
  return min === max ? `${max} ${max === 1 ? 'day' : 'days'}` : `${min} to ${max} days`
}
