import type { TemplateName } from './catalogue.ts'
import {
  button,
  orderButton,
  orderTable,
  orderText,
  paragraph,
  shipmentList,
  shipmentText,
  type Words,
  within
} from './words.ts'

const SEE = "{% if order.url != '' %}\n\nIhre Bestellung ansehen: {{ order.url }}{% endif %}"
const HELLO = "Guten Tag{% if recipient.name != '' %} {{ recipient.name }}{% endif %},"
const order = {
  discount: 'Rabatt',
  shipping: 'Versand',
  tax: 'Steuer',
  included: 'Enthaltene Steuer',
  total: 'Gesamt'
}
const UNSUBSCRIBE =
  '{% if unsubscribe_url != blank %}\n\nKeine solchen Mails mehr erhalten: {{ unsubscribe_url }}{% endif %}'

const mail = (subject: string, text: string, html: string): Words => ({
  subject,
  text: `${HELLO}\n\n${text}\n\n{{ shop.name }}${UNSUBSCRIBE}\n`,
  html: within(`${paragraph(HELLO)}${html}`, 'Keine solchen Mails mehr erhalten')
})
const orderMail = (subject: string, sentence: string): Words =>
  mail(
    subject,
    `${sentence}\n${orderText(order)}${SEE}`,
    `${paragraph(sentence)}${orderTable(order)}${orderButton('Bestellung ansehen')}`
  )
const shipmentMail = (subject: string, sentence: string): Words => {
  const tracking =
    "{% if shipment.tracking_number != '' %}Sendungsnummer: {{ shipment.tracking_number }}{% if shipment.carrier != '' %} ({{ shipment.carrier }}){% endif %}{% endif %}"
  return mail(
    subject,
    `${sentence}\n${shipmentText}\n\n${tracking}${SEE}`,
    `${paragraph(sentence)}${shipmentList}${paragraph(tracking)}${orderButton('Bestellung ansehen')}`
  )
}
const linkMail = (subject: string, sentence: string, words: string, otherwise: string): Words => {
  const until = 'Der Link gilt bis {{ expires_at | moment }}.'
  return mail(
    subject,
    `${sentence}\n\n{{ url }}\n\n${until} ${otherwise}`,
    `${paragraph(sentence)}${button(words, '{{ url }}')}${paragraph(`${until} ${otherwise}`)}`
  )
}
const plain = (subject: string, ...sentences: string[]): Words =>
  mail(subject, sentences.join('\n\n'), sentences.map(paragraph).join(''))

export const german: Readonly<Record<TemplateName, Words>> = {
  welcome: plain(
    'Willkommen bei {{ shop.name }}',
    'Ihr Konto ist eingerichtet. Schön, dass Sie da sind.',
    "{% if shop.url != '' %}Sehen Sie sich um: {{ shop.url }}{% endif %}"
  ),
  verify_email: linkMail(
    'Bestätigen Sie Ihre E-Mail-Adresse',
    'Bitte bestätigen Sie, dass dies Ihre E-Mail-Adresse ist.',
    'Bestätigen',
    'Wenn Sie das nicht waren, müssen Sie nichts tun.'
  ),
  reset_password: linkMail(
    'Wählen Sie ein neues Passwort',
    'Jemand, hoffentlich Sie selbst, möchte ein neues Passwort für Ihr Konto wählen.',
    'Passwort wählen',
    'Wenn Sie das nicht waren, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist.'
  ),
  password_changed: plain(
    'Ihr Passwort wurde geändert',
    'Das Passwort Ihres Kontos wurde am {{ at | moment }} geändert.',
    'Wenn Sie das nicht waren, wählen Sie bitte sofort ein neues, und sagen Sie uns Bescheid.'
  ),
  email_changed: plain(
    'Ihre E-Mail-Adresse wurde geändert',
    'Die E-Mail-Adresse Ihres Kontos wurde am {{ at | moment }} geändert.',
    'Wenn Sie das nicht waren, sagen Sie uns bitte sofort Bescheid.'
  ),
  order_placed: orderMail(
    'Ihre Bestellung {{ order.number }}',
    'Vielen Dank für Ihre Bestellung {{ order.number }}.'
  ),
  order_paid: orderMail(
    'Ihre Zahlung für die Bestellung {{ order.number }}',
    'Wir haben Ihre Zahlung für die Bestellung {{ order.number }} erhalten.'
  ),
  order_shipped: shipmentMail(
    'Ihre Bestellung {{ order.number }} ist unterwegs',
    'Dieser Teil Ihrer Bestellung {{ order.number }} ist unterwegs:'
  ),
  order_delivered: shipmentMail(
    'Ihre Bestellung {{ order.number }} ist angekommen',
    'Dieser Teil Ihrer Bestellung {{ order.number }} wurde zugestellt:'
  ),
  order_canceled: plain(
    'Ihre Bestellung {{ order.number }} ist storniert',
    'Ihre Bestellung {{ order.number }} ist storniert. Sie wird nicht mehr versandt, und was Sie dafür bezahlt haben, erhalten Sie zurück.'
  ),
  order_refunded: plain(
    'Ihre Erstattung für die Bestellung {{ order.number }}',
    'Wir haben Ihnen {{ amount | money: order.currency }} für die Bestellung {{ order.number }} erstattet. Bis das Geld ankommt, kann es einige Tage dauern.'
  ),
  low_stock: plain(
    '{% if status == "out" %}Ausverkauft{% else %}Wird knapp{% endif %}: {{ variants[0].name }}',
    '{% for variant in variants %}{{ variant.name }} ({{ variant.sku }}){% unless forloop.last %}, {% endunless %}{% endfor %}: noch {{ available }}.'
  )
}
