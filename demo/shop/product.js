import { call, quantityWords, wordsOf } from './api.js'
import { addToCart } from './basket.js'
import { priceOf } from './browse.js'
import { busy, el, link, page, picture, problemPlace, say, tell } from './dom.js'

/** `#/products/:slug`: one product, and which of its variants it is to be. */
export async function product({ parts: [slug] }) {
  const { name, brand, description, options, variants, images, categories } = await call(
    'GET',
    `/products/${encodeURIComponent(slug)}`
  )
  const image = el('div', { class: 'large' }, picture(images[0]?.url, images[0]?.alt ?? name))
  const buying =
    variants.length === 0
      ? el('p', { class: 'empty' }, 'This is not sold here at present.')
      : buyingForm({ options: choicesOf(options, variants), variants, image, name })
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
    )
  )
}

/** Variants without options are told apart by their names. */
const choicesOf = (options, variants) =>
  options.length > 0 || variants.length === 1
    ? options
    : [{ name: 'Kind', values: variants.map(({ name }) => name) }]
const choiceOf = (variant, option) => variant.attributes[option.name] ?? variant.name

function buyingForm({ options, variants, image, name }) {
  const first = variants.find(canBeBought) ?? variants[0]
  const chosen = Object.fromEntries(options.map(option => [option.name, choiceOf(first, option)]))
  const variantOf = wanted =>
    variants.find(variant => options.every(option => choiceOf(variant, option) === wanted[option.name]))
  const price = el('p', { class: 'price' })
  const stock = el('p', { class: 'soft', role: 'status' })
  const quantity = el('input', { type: 'number', inputmode: 'numeric', value: 1, required: true })
  const button = el('button', { class: 'main' }, 'Put into the cart')
  const problem = problemPlace()
  const done = el('p', { class: 'done', hidden: true }, 'It is in the cart. ', link('#/cart', 'See the cart'))

  function show() {
    const variant = variantOf(chosen)
    markWhatIsOut()
    price.replaceChildren(
      ...(variant === undefined ? ['—'] : priceOf(variant.price, variant.discounted_price, variant.currency))
    )
    stock.textContent = stockWords(variant)
    button.disabled = variant === undefined || !canBeBought(variant)
    if (variant === undefined) return
    const { quantity_min, quantity_max, quantity_step, image_url } = variant
    quantity.min = quantity_min
    quantity.max = quantity_max ?? ''
    quantity.step = quantity_step
    if (Number(quantity.value) < quantity_min) quantity.value = quantity_min
    if (image_url !== null) image.replaceChildren(picture(image_url, `${name}, ${variant.name}`))
  }
  /** Each choice that, beside the others, leads to nothing that can be bought. */
  function markWhatIsOut() {
    for (const input of choices.flatMap(fieldset => [...fieldset.querySelectorAll('input')])) {
      const variant = variantOf({ ...chosen, [input.name]: input.value })
      const isOut = variant === undefined || !canBeBought(variant)
      input.nextElementSibling.classList.toggle('out', isOut)
      input.parentElement.title = isOut ? stockWords(variant) : ''
    }
  }
  async function add(event) {
    event.preventDefault()
    const variant = variantOf(chosen)
    tell(problem)
    done.hidden = true
    await busy(button, async () => {
      try {
        await addToCart(variant.id, Number(quantity.value))
        done.hidden = false
        say(`${name} is in the cart.`)
      } catch (error) {
        tell(problem, ...wordsOf(error))
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
    el('p', { class: 'row' }, el('label', {}, 'How many ', quantity), button),
    problem,
    done
  )
}

const canBeBought = ({ stock, quantity_min }) => stock === null || stock >= quantity_min

function stockWords(variant) {
  if (variant === undefined) return 'This combination is not sold.'
  if (!canBeBought(variant)) return 'Sold out'
  const left = variant.stock !== null && variant.stock <= 10 ? `Only ${variant.stock} left. ` : ''
  const { quantity_min, quantity_max, quantity_step } = variant
  const isUsual = quantity_min === 1 && quantity_max === null && quantity_step === 1
  return left + (isUsual ? '' : quantityWords(variant))
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'" }

/** Descriptions are written as HTML, by whoever wrote the products: what is shown of them is their text. */
const paragraphs = html =>
  html
    .replace(/<(?:br|\/(?:p|li|h\d|div|tr))\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(#39|[a-z]+);/gi, (whole, entity) => ENTITIES[entity.toLowerCase()] ?? whole)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
