import { call } from './api.js'
import { countries } from './countries.js'
import { el } from './dom.js'

const FIELDS = [
  ['name', 'Name', 'name'],
  ['company', 'Company', 'organization'],
  ['line1', 'Street and number', 'address-line1'],
  ['line2', 'Flat, floor, staircase', 'address-line2'],
  ['postal_code', 'Postal code', 'postal-code'],
  ['city', 'Town', 'address-level2'],
  ['region', 'State, province or region', 'address-level1'],
  ['phone', 'Phone', 'tel']
]

/** A field with its label, and room for what is wrong with it. Its name is where the API finds it. */
export function field(name, words, attributes, input = el('input', { maxlength: 255 })) {
  const id = `field-${name.replace('/', '-')}`
  for (const [key, value] of Object.entries({ ...attributes, id, name, 'aria-describedby': `${id}-wrong` }))
    input.setAttribute(key, value)
  return el(
    'p',
    { class: 'field' },
    el('label', { for: id }, words, el('span', { class: 'soft' })),
    input,
    el('span', { class: 'wrong', id: `${id}-wrong` })
  )
}

/** An address in the making: what it needs, and which regions there are, depends on the country. */
export function addressForm(address, first) {
  let needed = ['country']
  const select = el(
    'select',
    {},
    countries().map(({ code, name }) => el('option', { value: code, selected: code === first }, name))
  )
  const rows = FIELDS.map(([name, words, autocomplete]) =>
    field(`shipping_address/${name}`, words, { autocomplete, value: address?.[name] ?? '' })
  )
  const element = el(
    'fieldset',
    {},
    el('legend', {}, 'Where does it go?'),
    el(
      'div',
      { class: 'address' },
      field('shipping_address/country', 'Country', { autocomplete: 'country' }, select),
      rows
    )
  )

  /** Asks for what the chosen country needs. A region that is needed is chosen from those there are. */
  async function showCountry(region = '') {
    const country = select.value
    const { required, regions } = await call('GET', `/countries/${country}`)
    if (select.value !== country) return
    needed = ['country', ...required]
    const isChosen = required.includes('region') && regions.length > 0
    const input = isChosen ? regionChoice(regions, region) : el('input', { maxlength: 255, value: region })
    const before = element.querySelector('[name="shipping_address/region"]')
    for (const { name, value } of before.attributes)
      if (!['value', 'maxlength'].includes(name)) input.setAttribute(name, value)
    before.replaceWith(input)
  }
  return { element, showCountry, isNeeded: name => needed.includes(name.split('/')[1]) }
}

const regionChoice = (regions, chosen) =>
  el(
    'select',
    {},
    el('option', { value: '' }, ''),
    regions.map(({ code, name }) => el('option', { value: code, selected: code === chosen }, name))
  )

/** What the fields say; what is empty is left out. */
export function readAddress(form) {
  const fields = [...form.elements].filter(({ name }) => name.startsWith('shipping_address/'))
  const written = fields.map(({ name, value }) => [name.split('/')[1], value.trim()])
  return Object.fromEntries(written.filter(([, value]) => value !== ''))
}
