import { findingWords } from './api.js'
import { el } from './dom.js'
import { money } from './money.js'
import { daysWords } from './summary.js'

/** Ways to have it, of each group that something can be chosen for. Whoever is about to press one finds it where it was. */
export function deliveryField() {
  const element = el('fieldset', { class: 'delivery' })
  let shown = ''
  function show({ groups, currency }) {
    const offered = JSON.stringify(groups.map(group => group.options))
    if (offered !== shown)
      element.replaceChildren(
        el('legend', {}, 'How does it come?'),
        ...(groups.length === 0 ? [el('p', { class: 'soft' }, 'That depends on where it goes.')] : []),
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
        [provider, daysWords(estimated_days)].filter(Boolean).map(word => ` · ${word}`)
      )
    ),
    el('span', { class: 'amount' }, amount === 0 ? 'free' : money(amount, currency))
  )

/** Codes, each with what it takes off or why it does not. */
export function codesField(said, changed) {
  const list = el('ul', { class: 'codes', role: 'status' })
  const input = el('input', { id: 'code', maxlength: 64, autocomplete: 'off', onkeydown: onEnter })
  function add() {
    const code = input.value.trim()
    if (code === '' || said.codes.includes(code)) return
    said.codes.push(code)
    input.value = ''
    changed()
  }
  function onEnter(event) {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  }
  const remove = code => {
    said.codes = said.codes.filter(each => each !== code)
    changed()
  }
  const show = ({ discounts, findings, currency }) =>
    list.replaceChildren(
      ...said.codes.map(code => {
        const isOf = each => each?.toLowerCase() === code.toLowerCase()
        const off = discounts.filter(each => isOf(each.code))
        const found = findings.find(each => each.code.startsWith('CODE_') && isOf(each.promotion_code))
        const words = found
          ? findingWords(found, () => undefined)
          : `${code}: ${off.map(each => `${each.name} ${money(-each.amount, currency)}`).join(', ')}`
        return el(
          'li',
          {},
          el('span', {}, words),
          el(
            'button',
            { type: 'button', 'aria-label': `Remove ${code}`, onclick: () => remove(code) },
            'Remove'
          )
        )
      })
    )
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: 'code' }, 'A code', el('span', { class: 'soft' }, ' (optional)')),
    el('span', { class: 'row' }, input, el('button', { type: 'button', onclick: add }, 'Use it')),
    list
  )
  return { element, show }
}
