import { call } from './api.js'
import { priceOf } from './browse.js'
import { addToCart } from './carts.js'
import { announce, disableWhile, el, link, page, picture, problemElement, showProblem } from './dom.js'
import { errorTexts, quantityRuleText } from './errors.js'
import { reviewsOf } from './reviews.js'
import { t } from './texts.js'

/** `#/products/:slug`: a product with its options. */
export async function product({ parts: [slug] }) {
  const { name, brand, description, options, variants, images, categories, rating } = await call(
    'GET',
    `/products/${encodeURIComponent(slug)}`
  )
  const image = el('div', { class: 'large' }, picture(images[0]?.url, images[0]?.alt ?? name))
  const buying =
    variants.length === 0
      ? el('p', { class: 'empty' }, t.product.notSold)
      : purchaseForm({ options: choicesOf(options, variants), variants, image, name })
  return page(
    name,
    el(
      'div',
      { class: 'product' },
      image,
      el(
        'div',
        {},
        brand && el('p', { class: 'soft' }, brand),
        buying,
        paragraphs(description).map(text => el('p', {}, text)),
        el(
          'p',
          { class: 'soft' },
          categories.map(each => [link(`#/?category=${encodeURIComponent(each.slug)}`, each.name), ' '])
        )
      )
    ),
    // Null when the module reviews is switched off, and absent in a shop without the module.
    rating && (await reviewsOf(slug, rating))
  )
}

/** Variants without options are distinguished by their names. */
const choicesOf = (options, variants) =>
  options.length > 0 || variants.length === 1
    ? options
    : [{ name: t.product.kind, values: variants.map(({ name }) => name) }]
const choiceOf = (variant, option) => variant.attributes[option.name] ?? variant.name

function purchaseForm({ options, variants, image, name }) {
  const first = variants.find(canBeBought) ?? variants[0]
  const chosen = Object.fromEntries(options.map(option => [option.name, choiceOf(first, option)]))
  const variantOf = wanted =>
    variants.find(variant => options.every(option => choiceOf(variant, option) === wanted[option.name]))
  const price = el('p', { class: 'price' })
  const stock = el('p', { class: 'soft', role: 'status' })
  const quantity = el('input', { type: 'number', inputmode: 'numeric', value: 1, required: true })
  const button = el('button', { class: 'main' }, t.product.add)
  const problem = problemElement()
  const done = el(
    'p',
    { class: 'done', hidden: true },
    t.product.added,
    ' ',
    link('#/cart', t.product.toCart)
  )

  function show() {
    const variant = variantOf(chosen)
    markUnavailable()
    price.replaceChildren(
      ...(variant === undefined ? ['—'] : priceOf(variant.price, variant.discounted_price, variant.currency))
    )
    stock.textContent = stockText(variant)
    button.disabled = variant === undefined || !canBeBought(variant)
    if (variant === undefined) return
    const { quantity_min, quantity_max, quantity_step, image_url } = variant
    quantity.min = quantity_min
    quantity.max = quantity_max ?? ''
    quantity.step = quantity_step
    if (Number(quantity.value) < quantity_min) quantity.value = quantity_min
    if (image_url !== null) image.replaceChildren(picture(image_url, `${name}, ${variant.name}`))
  }
  /** Strikes out each choice that leads to no variant in stock, given the other choices. */
  function markUnavailable() {
    for (const input of choices.flatMap(fieldset => [...fieldset.querySelectorAll('input')])) {
      const variant = variantOf({ ...chosen, [input.name]: input.value })
      const isOut = variant === undefined || !canBeBought(variant)
      input.nextElementSibling.classList.toggle('out', isOut)
      input.parentElement.title = isOut ? stockText(variant) : ''
    }
  }
  async function add(event) {
    event.preventDefault()
    const variant = variantOf(chosen)
    showProblem(problem)
    done.hidden = true
    await disableWhile(button, async () => {
      try {
        await addToCart(variant.id, Number(quantity.value))
        done.hidden = false
        announce(t.product.addedNamed(name))
      } catch (error) {
        showProblem(problem, ...errorTexts(error))
      }
    })
  }
  const choices = options.map(option =>
    el(
      'fieldset',
      { class: 'choices' },
      el('legend', {}, option.name),
      option.values.map(value =>
        el(
          'label',
          {},
          el('input', {
            type: 'radio',
            name: option.name,
            value,
            checked: chosen[option.name] === value,
            onchange: () => {
              chosen[option.name] = value
              show()
            }
          }),
          el('span', {}, value)
        )
      )
    )
  )
  show()
  return el(
    'form',
    { onsubmit: add },
    price,
    choices,
    stock,
    el('p', { class: 'row' }, el('label', {}, `${t.product.quantity} `, quantity), button),
    problem,
    done
  )
}

const canBeBought = ({ stock, quantity_min }) => stock === null || stock >= quantity_min

function stockText(variant) {
  if (variant === undefined) return t.product.noCombination
  if (!canBeBought(variant)) return t.product.soldOut
  const left = variant.stock !== null && variant.stock <= 10 ? `${t.product.left(variant.stock)} ` : ''
  const { quantity_min, quantity_max, quantity_step } = variant
  const isDefaultRule = quantity_min === 1 && quantity_max === null && quantity_step === 1
  return left + (isDefaultRule ? '' : quantityRuleText(variant))
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'" }

/** Returns the text of an HTML description, by paragraph. Markup from the API is never inserted into the page. */
const paragraphs = html =>
  html
    .replace(/<(?:br|\/(?:p|li|h\d|div|tr))\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(#39|[a-z]+);/gi, (whole, entity) => ENTITIES[entity.toLowerCase()] ?? whole)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
