import { ApiError } from './api.js'
import { link } from './dom.js'
import { LoginRequired } from './session.js'
import { t } from './texts.js'

/** Returns the texts that a shopper sees for an error. `nameOf` returns the name of a variant by its id. */
export function errorTexts(error, nameOf = () => undefined) {
  if (error instanceof LoginRequired)
    return [[t.failures.loggedOut, ' ', link(`#/log-in/${location.hash.slice(2)}`, t.menu.logIn)]]
  if (!(error instanceof ApiError)) {
    console.error(error)
    return [t.failures.page]
  }
  if (error.status === 0) return [t.failures.unreachable]
  // The operator of the shop wrote this message for shoppers.
  if (error.code === 'SHOP_IN_MAINTENANCE') return [error.message ?? t.failures.maintenance]
  if (error.code === 'CART_INSUFFICIENT_STOCK') return [t.failures.stock(error.available)]
  if (error.code === 'CART_QUANTITY_LIMIT') return [t.failures.limit(error.limit)]
  if (error.code === 'CART_QUANTITY_RULE') return [quantityRuleText(error)]
  const found = error.items ?? (error.code === 'ORDER_CODE_REFUSED' ? error.findings : undefined)
  if (Array.isArray(found) && found.length > 0) return found.map(each => findingText(each, nameOf))
  if (error.code in t.errors) return [t.errors[error.code]]
  if (error.status === 429) return [t.failures.limited]
  // A parameter comes from the address of the page, so its link is broken.
  if (error.errors?.some(({ path }) => !path.startsWith('body'))) return [t.page.missing]
  if (Array.isArray(error.errors))
    return error.errors.map(({ path, message }) => t.failures.field(fieldName(path), fieldErrorText(message)))
  return [t.failures.other]
}

/** Returns the text for a finding of a checkout, or for a rejected line of an order. */
export function findingText(finding, nameOf) {
  const { variant_id, promotion_code, field, available } = finding
  const words = fieldFindingText(finding)
  const about = nameOf(variant_id) ?? promotion_code ?? (field && fieldName(field))
  const left = available > 0 ? ` ${t.failures.left(available)}` : ''
  return (about === undefined ? '' : `${about}: `) + (words ?? t.findings.STOCK_SHORT) + left
}

/** The message of `ADDRESS_INVALID` names the error of the field. Other findings have a text by their code. */
export const fieldFindingText = ({ code, message }) =>
  code === 'ADDRESS_INVALID' && message ? fieldErrorText(message) : t.findings[code]

/** Translates a field error of the API. Returns it unchanged when there is no translation. */
export function fieldErrorText(message) {
  const [pattern, words] = t.faults.find(([each]) => each.test(message)) ?? []
  return pattern === undefined ? message : message.replace(pattern, words)
}

export const quantityRuleText = ({ quantity_min: min, quantity_max: max, quantity_step: step }) =>
  t.product.rule({ min, max, step })

function fieldName(path) {
  const name = path.split('/').at(-1)
  return t.address[name] ?? name.replaceAll('_', ' ')
}
