import { el } from './dom.js'
import { findingText } from './errors.js'
import { money } from './money.js'
import { deliveryDaysText } from './summary.js'
import { t } from './texts.js'

/**
 * The shipping methods of each group of items. They are rendered again only when the options change, so that a click hits the
 * intended one.
 */
export function deliveryField() {
  const element = el('fieldset', { class: 'delivery' })
  let shown = ''
  function show({ groups, currency }) {
    const offered = JSON.stringify(groups.map(group => group.options))
    if (offered !== shown)
      element.replaceChildren(
        el('legend', {}, t.checkout.delivery),
        ...(groups.length === 0 ? [el('p', { class: 'soft' }, t.checkout.deliveryUnknown)] : []),
        ...groups.flatMap(group => group.options.map(each => option(each, group, currency)))
      )
    shown = offered
    const chosen = groups.map(group => group.shipping_option)
    for (const input of element.querySelectorAll('input')) input.checked = chosen.includes(input.value)
  }
  return { element, show }
}

const option = ({ id, provider, service, amount, estimated_days }, group, currency) =>
  el(
    'label',
    { class: 'option' },
    group.method === 'digital' && group.options.length === 1
      ? null
      : el('input', { type: 'radio', name: 'shipping_option', value: id }),
    el(
      'span',
      {},
      service,
      el(
        'span',
        { class: 'soft' },
        [provider, deliveryDaysText(estimated_days)].filter(Boolean).map(word => ` · ${word}`)
      )
    ),
    el('span', { class: 'amount' }, amount === 0 ? t.checkout.free : money(amount, currency))
  )

/** Promotion codes, each with its discount or the reason why it has none. `onChange` is called when a code is added or removed. */
export function codesField(entered, onChange) {
  const list = el('ul', { class: 'codes', 'aria-live': 'polite' })
  const input = el('input', { id: 'code', maxlength: 64, autocomplete: 'off', onkeydown: onEnter })
  function add() {
    const code = input.value.trim()
    if (code === '' || entered.codes.includes(code)) return
    entered.codes.push(code)
    input.value = ''
    onChange()
  }
  function onEnter(event) {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  }
  const remove = code => {
    entered.codes = entered.codes.filter(each => each !== code)
    onChange()
  }
  function show({ discounts, findings, currency }) {
    if (list.contains(document.activeElement)) input.focus()
    list.replaceChildren(
      ...entered.codes.map(code => {
        const isOf = each => each?.toLowerCase() === code.toLowerCase()
        const off = discounts.filter(each => isOf(each.code))
        const found = findings.find(each => each.code.startsWith('CODE_') && isOf(each.promotion_code))
        const words = found
          ? findingText(found, () => undefined)
          : `${code}: ${off.map(each => `${each.name} ${money(-each.amount, currency)}`).join(', ')}`
        return el(
          'li',
          {},
          el('span', {}, words),
          el(
            'button',
            { type: 'button', 'aria-label': t.checkout.removeCode(code), onclick: () => remove(code) },
            t.form.remove
          )
        )
      })
    )
  }
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: 'code' }, t.checkout.code, el('span', { class: 'soft' }, t.form.optional)),
    el('span', { class: 'row' }, input, el('button', { type: 'button', onclick: add }, t.checkout.useCode)),
    list
  )
  return { element, show }
}
