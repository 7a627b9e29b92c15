import { Talk } from "../client/index"; console.log(Talk)
