import { addressForm } from './address.js'
import { countryName } from './countries.js'
import { announce, disableWhile, el, link, page, problemElement, showProblem } from './dom.js'
import { errorTexts } from './errors.js'
import { checkbox, form } from './forms.js'
import { callAsCustomer } from './session.js'
import { t } from './texts.js'

const LIST = '#/account/addresses'

/** Returns all saved addresses of the customer. The setting `auth.addresses_max` limits their number. */
export const savedAddresses = async () => (await callAsCustomer('GET', '/auth/addresses?limit=100')).items

/** `#/account/addresses`: the list. With `new` or the id of an address below it: the form. */
export async function addressesPage({ parts: [, id], reload }) {
  const addresses = await savedAddresses()
  if (id !== undefined)
    return addressPage(
      addresses.find(each => each.id === id),
      addresses.length === 0
    )
  return page(
    t.addresses.title,
    addresses.length === 0
      ? el('p', { class: 'empty' }, t.addresses.none)
      : el(
          'ul',
          { class: 'rows' },
          addresses.map(each => row(each, reload))
        ),
    el('p', {}, el('a', { class: 'button', href: `${LIST}/new` }, t.addresses.add)),
    el('p', {}, link('#/account', t.account.title))
  )
}

function row({ id, address, default_shipping, default_billing }, reload) {
  const problem = problemElement()
  const remove = async () => {
    await callAsCustomer('DELETE', `/auth/addresses/${id}`)
    announce(t.addresses.removed)
    await reload()
  }
  const button = el(
    'button',
    {
      'aria-label': t.addresses.removeOf(address.name),
      onclick: () =>
        disableWhile(button, () => remove().catch(error => showProblem(problem, ...errorTexts(error))))
    },
    t.form.remove
  )
  return el(
    'li',
    {},
    el(
      'div',
      {},
      addressElement(address),
      default_shipping && el('p', { class: 'soft' }, t.addresses.defaultShipping),
      default_billing && el('p', { class: 'soft' }, t.addresses.defaultBilling),
      problem
    ),
    el('span', { class: 'row' }, link(`${LIST}/${id}`, t.addresses.change), button)
  )
}

/** The first address is suggested as the default. */
async function addressPage(saved, isFirst) {
  const { id, version, address, default_shipping = isFirst, default_billing = isFirst } = saved ?? {}
  const country = address?.country ?? new Intl.Locale(navigator.language).maximize().region ?? 'US'
  const fields = addressForm({ path: 'address', legend: t.addresses.title, address, country })
  const title = saved === undefined ? t.addresses.new : t.addresses.changeTitle
  fields.element.addEventListener('change', ({ target }) => {
    if (target.name === 'address/country') fields.showCountry().catch(() => {})
    else fields.markRequired()
  })
  const content = page(
    title,
    form({
      fields: [
        fields.element,
        checkbox('default_shipping', t.addresses.defaultShipping, default_shipping),
        checkbox('default_billing', t.addresses.defaultBilling, default_billing)
      ],
      button: t.form.save,
      send: async values => {
        const body = {
          address: fields.read(),
          default_shipping: values.default_shipping === 'on',
          default_billing: values.default_billing === 'on'
        }
        if (id === undefined) await callAsCustomer('POST', '/auth/addresses', { body })
        // With If-Match the shop rejects the change of an address that was changed in another tab.
        else
          await callAsCustomer('PATCH', `/auth/addresses/${id}`, {
            body,
            headers: { 'if-match': `"${version}"` }
          })
        announce(t.form.saved)
        location.replace(LIST)
      }
    }),
    el('p', {}, link(LIST, t.form.cancel))
  )
  await fields.showCountry(address?.region).catch(() => {})
  return content
}

/** An address in lines, as on a parcel. */
export function addressElement({ name, company, line1, line2, postal_code, city, region, country }) {
  const town = [postal_code, city].filter(Boolean).join(' ')
  const lines = [name, company, line1, line2, town, region, country && countryName(country)]
  return el('address', {}, lines.filter(Boolean).join('\n'))
}

/** A select of saved addresses for the address fields. Returns null when there are none. */
export function savedChoice(addresses, current, choose) {
  if (addresses.length === 0) return null
  const isCurrent = ({ address }) => current && lineOf(address) === lineOf(current)
  const select = el(
    'select',
    { id: 'saved', onchange: () => choose(addresses[Number(select.value)]?.address) },
    el('option', { value: '' }, t.checkout.otherAddress),
    addresses.map((each, index) =>
      el('option', { value: index, selected: isCurrent(each) }, lineOf(each.address))
    )
  )
  return el('p', { class: 'field' }, el('label', { for: 'saved' }, t.checkout.saved), select)
}

const lineOf = ({ name, line1, postal_code, city, country }) =>
  [name, line1, [postal_code, city].filter(Boolean).join(' '), country].filter(Boolean).join(', ')
