import { describeContract } from './describe-contract.ts'

describeContract('catalog', 'inventory', 'reviews')
