import { call } from './api.js'
import { countries } from './countries.js'
import { el } from './dom.js'
import { field } from './forms.js'
import { t } from './texts.js'

const FIELDS = {
  name: 'name',
  company: 'organization',
  line1: 'address-line1',
  line2: 'address-line2',
  postal_code: 'postal-code',
  city: 'address-level2',
  region: 'address-level1',
  phone: 'tel'
}

/**
 * The fields of an address, named `<path>/name` and so on. The country decides which fields are required and which regions
 * exist; `showCountry` reads that from the shop.
 */
export function addressForm({ path, legend, address, country: first }) {
  let required = ['country']
  const select = el(
    'select',
    {},
    countries().map(({ code, name }) => el('option', { value: code, selected: code === first }, name))
  )
  const rows = Object.entries(FIELDS).map(([name, autocomplete]) =>
    field(`${path}/${name}`, t.address[name], { autocomplete, value: address?.[name] ?? '' })
  )
  const element = el(
    'fieldset',
    {},
    el('legend', {}, legend),
    el(
      'div',
      { class: 'address' },
      field(`${path}/country`, t.address.country, { autocomplete: 'country' }, select),
      rows
    )
  )
  const input = name => element.querySelector(`[name="${path}/${name}"]`)

  /** Marks the required fields of the country. A required region becomes a choice of the country's regions. */
  async function showCountry(region = '') {
    const country = select.value
    const needs = await call('GET', `/countries/${country}`)
    if (select.value !== country) return
    required = ['country', ...needs.required]
    const isChosen = needs.required.includes('region') && needs.regions.length > 0
    const choice = isChosen
      ? regionChoice(needs.regions, region)
      : el('input', { maxlength: 255, value: region })
    const before = input('region')
    for (const { name, value } of before.attributes)
      if (!['value', 'maxlength'].includes(name)) choice.setAttribute(name, value)
    before.replaceWith(choice)
    markRequired()
  }

  /** The label of an empty field states that it is optional. */
  function markRequired() {
    for (const name of ['country', ...Object.keys(FIELDS)]) {
      const isRequired = required.includes(name)
      input(name).setAttribute('aria-required', isRequired)
      const isOptional = !isRequired && input(name).value === ''
      input(name).closest('.field').querySelector('label .soft').textContent = isOptional
        ? t.form.optional
        : ''
    }
  }

  /** Fills the fields with another address. */
  async function fill(another) {
    select.value = another.country
    for (const name of Object.keys(FIELDS)) input(name).value = another[name] ?? ''
    await showCountry(another.region).catch(() => {})
  }

  /** Returns the values of the fields, without empty ones. */
  function read() {
    const entries = ['country', ...Object.keys(FIELDS)].map(name => [name, input(name).value.trim()])
    return Object.fromEntries(entries.filter(([, value]) => value !== ''))
  }
  return { element, showCountry, markRequired, fill, read }
}

const regionChoice = (regions, chosen) =>
  el(
    'select',
    {},
    el('option', { value: '' }, ''),
    regions.map(({ code, name }) => el('option', { value: code, selected: code === chosen }, name))
  )
