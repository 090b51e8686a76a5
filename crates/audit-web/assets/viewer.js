var le=globalThis,de=le.ShadowRoot&&(le.ShadyCSS===void 0||le.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,He=Symbol(),ut=new WeakMap,X=class{constructor(e,t,i){if(this._$cssResult$=!0,i!==He)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,t=this.t;if(de&&e===void 0){let i=t!==void 0&&t.length===1;i&&(e=ut.get(t)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),i&&ut.set(t,e))}return e}toString(){return this.cssText}},pt=s=>new X(typeof s=="string"?s:s+"",void 0,He),x=(s,...e)=>{let t=s.length===1?s[0]:e.reduce((i,n,r)=>i+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(n)+s[r+1],s[0]);return new X(t,s,He)},ft=(s,e)=>{if(de)s.adoptedStyleSheets=e.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of e){let i=document.createElement("style"),n=le.litNonce;n!==void 0&&i.setAttribute("nonce",n),i.textContent=t.cssText,s.appendChild(i)}},je=de?s=>s:s=>s instanceof CSSStyleSheet?(e=>{let t="";for(let i of e.cssRules)t+=i.cssText;return pt(t)})(s):s;var{is:$i,defineProperty:ki,getOwnPropertyDescriptor:Ai,getOwnPropertyNames:_i,getOwnPropertySymbols:Ei,getPrototypeOf:Ti}=Object,ce=globalThis,mt=ce.trustedTypes,Si=mt?mt.emptyScript:"",Pi=ce.reactiveElementPolyfillSupport,Y=(s,e)=>s,Be={toAttribute(s,e){switch(e){case Boolean:s=s?Si:null;break;case Object:case Array:s=s==null?s:JSON.stringify(s)}return s},fromAttribute(s,e){let t=s;switch(e){case Boolean:t=s!==null;break;case Number:t=s===null?null:Number(s);break;case Object:case Array:try{t=JSON.parse(s)}catch{t=null}}return t}},vt=(s,e)=>!$i(s,e),gt={attribute:!0,type:String,converter:Be,reflect:!1,useDefault:!1,hasChanged:vt};Symbol.metadata??=Symbol("metadata"),ce.litPropertyMetadata??=new WeakMap;var S=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=gt){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let i=Symbol(),n=this.getPropertyDescriptor(e,i,t);n!==void 0&&ki(this.prototype,e,n)}}static getPropertyDescriptor(e,t,i){let{get:n,set:r}=Ai(this.prototype,e)??{get(){return this[t]},set(o){this[t]=o}};return{get:n,set(o){let a=n?.call(this);r?.call(this,o),this.requestUpdate(e,a,i)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??gt}static _$Ei(){if(this.hasOwnProperty(Y("elementProperties")))return;let e=Ti(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(Y("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(Y("properties"))){let t=this.properties,i=[..._i(t),...Ei(t)];for(let n of i)this.createProperty(n,t[n])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[i,n]of t)this.elementProperties.set(i,n)}this._$Eh=new Map;for(let[t,i]of this.elementProperties){let n=this._$Eu(t,i);n!==void 0&&this._$Eh.set(n,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let i=new Set(e.flat(1/0).reverse());for(let n of i)t.unshift(je(n))}else e!==void 0&&t.push(je(e));return t}static _$Eu(e,t){let i=t.attribute;return i===!1?void 0:typeof i=="string"?i:typeof e=="string"?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let i of t.keys())this.hasOwnProperty(i)&&(e.set(i,this[i]),delete this[i]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return ft(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,i){this._$AK(e,i)}_$ET(e,t){let i=this.constructor.elementProperties.get(e),n=this.constructor._$Eu(e,i);if(n!==void 0&&i.reflect===!0){let r=(i.converter?.toAttribute!==void 0?i.converter:Be).toAttribute(t,i.type);this._$Em=e,r==null?this.removeAttribute(n):this.setAttribute(n,r),this._$Em=null}}_$AK(e,t){let i=this.constructor,n=i._$Eh.get(e);if(n!==void 0&&this._$Em!==n){let r=i.getPropertyOptions(n),o=typeof r.converter=="function"?{fromAttribute:r.converter}:r.converter?.fromAttribute!==void 0?r.converter:Be;this._$Em=n;let a=o.fromAttribute(t,r.type);this[n]=a??this._$Ej?.get(n)??a,this._$Em=null}}requestUpdate(e,t,i,n=!1,r){if(e!==void 0){let o=this.constructor;if(n===!1&&(r=this[e]),i??=o.getPropertyOptions(e),!((i.hasChanged??vt)(r,t)||i.useDefault&&i.reflect&&r===this._$Ej?.get(e)&&!this.hasAttribute(o._$Eu(e,i))))return;this.C(e,t,i)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(e,t,{useDefault:i,reflect:n,wrapped:r},o){i&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,o??t??this[e]),r!==!0||o!==void 0)||(this._$AL.has(e)||(this.hasUpdated||i||(t=void 0),this._$AL.set(e,t)),n===!0&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[n,r]of this._$Ep)this[n]=r;this._$Ep=void 0}let i=this.constructor.elementProperties;if(i.size>0)for(let[n,r]of i){let{wrapped:o}=r,a=this[n];o!==!0||this._$AL.has(n)||a===void 0||this.C(n,void 0,r,a)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(i=>i.hostUpdate?.()),this.update(t)):this._$EM()}catch(i){throw e=!1,this._$EM(),i}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(e){}firstUpdated(e){}};S.elementStyles=[],S.shadowRootOptions={mode:"open"},S[Y("elementProperties")]=new Map,S[Y("finalized")]=new Map,Pi?.({ReactiveElement:S}),(ce.reactiveElementVersions??=[]).push("2.1.2");var Ve=globalThis,yt=s=>s,he=Ve.trustedTypes,bt=he?he.createPolicy("lit-html",{createHTML:s=>s}):void 0,Je="$lit$",P=`lit$${Math.random().toFixed(9).slice(2)}$`,Ke="?"+P,Ci=`<${Ke}>`,I=document,ee=()=>I.createComment(""),te=s=>s===null||typeof s!="object"&&typeof s!="function",We=Array.isArray,_t=s=>We(s)||typeof s?.[Symbol.iterator]=="function",ze=`[ 	
\f\r]`,Q=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,wt=/-->/g,xt=/>/g,N=RegExp(`>|${ze}(?:([^\\s"'>=/]+)(${ze}*=${ze}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),$t=/'/g,kt=/"/g,Et=/^(?:script|style|textarea|title)$/i,qe=s=>(e,...t)=>({_$litType$:s,strings:e,values:t}),c=qe(1),ve=qe(2),Hs=qe(3),C=Symbol.for("lit-noChange"),h=Symbol.for("lit-nothing"),At=new WeakMap,U=I.createTreeWalker(I,129);function Tt(s,e){if(!We(s)||!s.hasOwnProperty("raw"))throw Error("invalid template strings array");return bt!==void 0?bt.createHTML(e):e}var St=(s,e)=>{let t=s.length-1,i=[],n,r=e===2?"<svg>":e===3?"<math>":"",o=Q;for(let a=0;a<t;a++){let l=s[a],u,p,d=-1,f=0;for(;f<l.length&&(o.lastIndex=f,p=o.exec(l),p!==null);)f=o.lastIndex,o===Q?p[1]==="!--"?o=wt:p[1]!==void 0?o=xt:p[2]!==void 0?(Et.test(p[2])&&(n=RegExp("</"+p[2],"g")),o=N):p[3]!==void 0&&(o=N):o===N?p[0]===">"?(o=n??Q,d=-1):p[1]===void 0?d=-2:(d=o.lastIndex-p[2].length,u=p[1],o=p[3]===void 0?N:p[3]==='"'?kt:$t):o===kt||o===$t?o=N:o===wt||o===xt?o=Q:(o=N,n=void 0);let m=o===N&&s[a+1].startsWith("/>")?" ":"";r+=o===Q?l+Ci:d>=0?(i.push(u),l.slice(0,d)+Je+l.slice(d)+P+m):l+P+(d===-2?a:m)}return[Tt(s,r+(s[t]||"<?>")+(e===2?"</svg>":e===3?"</math>":"")),i]},ie=class s{constructor({strings:e,_$litType$:t},i){let n;this.parts=[];let r=0,o=0,a=e.length-1,l=this.parts,[u,p]=St(e,t);if(this.el=s.createElement(u,i),U.currentNode=this.el.content,t===2||t===3){let d=this.el.content.firstChild;d.replaceWith(...d.childNodes)}for(;(n=U.nextNode())!==null&&l.length<a;){if(n.nodeType===1){if(n.hasAttributes())for(let d of n.getAttributeNames())if(d.endsWith(Je)){let f=p[o++],m=n.getAttribute(d).split(P),v=/([.?@])?(.*)/.exec(f);l.push({type:1,index:r,name:v[2],strings:m,ctor:v[1]==="."?pe:v[1]==="?"?fe:v[1]==="@"?me:H}),n.removeAttribute(d)}else d.startsWith(P)&&(l.push({type:6,index:r}),n.removeAttribute(d));if(Et.test(n.tagName)){let d=n.textContent.split(P),f=d.length-1;if(f>0){n.textContent=he?he.emptyScript:"";for(let m=0;m<f;m++)n.append(d[m],ee()),U.nextNode(),l.push({type:2,index:++r});n.append(d[f],ee())}}}else if(n.nodeType===8)if(n.data===Ke)l.push({type:2,index:r});else{let d=-1;for(;(d=n.data.indexOf(P,d+1))!==-1;)l.push({type:7,index:r}),d+=P.length-1}r++}}static createElement(e,t){let i=I.createElement("template");return i.innerHTML=e,i}};function D(s,e,t=s,i){if(e===C)return e;let n=i!==void 0?t._$Co?.[i]:t._$Cl,r=te(e)?void 0:e._$litDirective$;return n?.constructor!==r&&(n?._$AO?.(!1),r===void 0?n=void 0:(n=new r(s),n._$AT(s,t,i)),i!==void 0?(t._$Co??=[])[i]=n:t._$Cl=n),n!==void 0&&(e=D(s,n._$AS(s,e.values),n,i)),e}var ue=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:i}=this._$AD,n=(e?.creationScope??I).importNode(t,!0);U.currentNode=n;let r=U.nextNode(),o=0,a=0,l=i[0];for(;l!==void 0;){if(o===l.index){let u;l.type===2?u=new B(r,r.nextSibling,this,e):l.type===1?u=new l.ctor(r,l.name,l.strings,this,e):l.type===6&&(u=new ge(r,this,e)),this._$AV.push(u),l=i[++a]}o!==l?.index&&(r=U.nextNode(),o++)}return U.currentNode=I,n}p(e){let t=0;for(let i of this._$AV)i!==void 0&&(i.strings!==void 0?(i._$AI(e,i,t),t+=i.strings.length-2):i._$AI(e[t])),t++}},B=class s{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,i,n){this.type=2,this._$AH=h,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=i,this.options=n,this._$Cv=n?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=D(this,e,t),te(e)?e===h||e==null||e===""?(this._$AH!==h&&this._$AR(),this._$AH=h):e!==this._$AH&&e!==C&&this._(e):e._$litType$!==void 0?this.$(e):e.nodeType!==void 0?this.T(e):_t(e)?this.k(e):this._(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==h&&te(this._$AH)?this._$AA.nextSibling.data=e:this.T(I.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:i}=e,n=typeof i=="number"?this._$AC(e):(i.el===void 0&&(i.el=ie.createElement(Tt(i.h,i.h[0]),this.options)),i);if(this._$AH?._$AD===n)this._$AH.p(t);else{let r=new ue(n,this),o=r.u(this.options);r.p(t),this.T(o),this._$AH=r}}_$AC(e){let t=At.get(e.strings);return t===void 0&&At.set(e.strings,t=new ie(e)),t}k(e){We(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,i,n=0;for(let r of e)n===t.length?t.push(i=new s(this.O(ee()),this.O(ee()),this,this.options)):i=t[n],i._$AI(r),n++;n<t.length&&(this._$AR(i&&i._$AB.nextSibling,n),t.length=n)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let i=yt(e).nextSibling;yt(e).remove(),e=i}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},H=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,i,n,r){this.type=1,this._$AH=h,this._$AN=void 0,this.element=e,this.name=t,this._$AM=n,this.options=r,i.length>2||i[0]!==""||i[1]!==""?(this._$AH=Array(i.length-1).fill(new String),this.strings=i):this._$AH=h}_$AI(e,t=this,i,n){let r=this.strings,o=!1;if(r===void 0)e=D(this,e,t,0),o=!te(e)||e!==this._$AH&&e!==C,o&&(this._$AH=e);else{let a=e,l,u;for(e=r[0],l=0;l<r.length-1;l++)u=D(this,a[i+l],t,l),u===C&&(u=this._$AH[l]),o||=!te(u)||u!==this._$AH[l],u===h?e=h:e!==h&&(e+=(u??"")+r[l+1]),this._$AH[l]=u}o&&!n&&this.j(e)}j(e){e===h?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??"")}},pe=class extends H{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===h?void 0:e}},fe=class extends H{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==h)}},me=class extends H{constructor(e,t,i,n,r){super(e,t,i,n,r),this.type=5}_$AI(e,t=this){if((e=D(this,e,t,0)??h)===C)return;let i=this._$AH,n=e===h&&i!==h||e.capture!==i.capture||e.once!==i.once||e.passive!==i.passive,r=e!==h&&(i===h||n);n&&this.element.removeEventListener(this.name,this,i),r&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},ge=class{constructor(e,t,i){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=i}get _$AU(){return this._$AM._$AU}_$AI(e){D(this,e)}},Pt={M:Je,P,A:Ke,C:1,L:St,R:ue,D:_t,V:D,I:B,H,N:fe,U:me,B:pe,F:ge},Ri=Ve.litHtmlPolyfillSupport;Ri?.(ie,B),(Ve.litHtmlVersions??=[]).push("3.3.3");var Ct=(s,e,t)=>{let i=t?.renderBefore??e,n=i._$litPart$;if(n===void 0){let r=t?.renderBefore??null;i._$litPart$=n=new B(e.insertBefore(ee(),r),r,void 0,t??{})}return n._$AI(s),n};var Ze=globalThis,y=class extends S{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Ct(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return C}};y._$litElement$=!0,y.finalized=!0,Ze.litElementHydrateSupport?.({LitElement:y});var Oi=Ze.litElementPolyfillSupport;Oi?.({LitElement:y});(Ze.litElementVersions??=[]).push("4.2.2");async function ye(s){try{return await navigator.clipboard.writeText(s),!0}catch{return Fi(s)}}function Fi(s){let e=!1,t=n=>{n.clipboardData?.setData("text/plain",s),n.preventDefault(),e=!0};document.addEventListener("copy",t,{capture:!0,once:!0});let i=document.execCommand("copy");return document.removeEventListener("copy",t,{capture:!0}),i&&e}var Li=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,Mi=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,Ge=/[ \t\n\r]*/y;function Rt(s){return new Xe(s).document()}var Xe=class{constructor(e){this.text=e}text;#e=0;document(){let e=this.#r(0);return this.#s(Ge),this.#e!==this.text.length&&this.#t(),e}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#s(e){e.lastIndex=this.#e;let t=e.exec(this.text)?.[0];return t!==void 0&&(this.#e+=t.length),t}#i(){return this.#s(Ge),this.text[this.#e]}#n(e){this.#i()!==e&&this.#t(),this.#e+=1}#r(e){switch(e>200&&this.#t(),this.#i()){case"{":return this.#d(e);case"[":return this.#l(e);case'"':return this.#o();default:return this.#a()}}#o(){let e=this.#s(Mi);return e===void 0?this.#t():JSON.parse(e)}#a(){for(let[i,n]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(i,this.#e))return this.#e+=i.length,n;let e=this.#s(Li);if(e===void 0)return this.#t();let t=Number(e);return/^-?[0-9]+$/.test(e)&&!Number.isSafeInteger(t)?BigInt(e):t}#l(e){let t=[];if(this.#n("["),this.#i()==="]")return this.#e+=1,t;for(;t.push(this.#r(e+1)),this.#i()===",";)this.#e+=1;return this.#n("]"),t}#d(e){let t={};if(this.#n("{"),this.#i()==="}")return this.#e+=1,t;for(;;){this.#s(Ge);let i=this.#o();this.#n(":");let n=this.#r(e+1);if(Object.hasOwn(t,i)&&this.#t(),Object.defineProperty(t,i,{value:n,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#n("}"),t}};function be(s){if(typeof s=="bigint")return s.toString();if(Array.isArray(s))return`[${s.map(be).join(",")}]`;if(typeof s=="object"&&s!==null){let e=s;return`{${Object.keys(e).filter(i=>e[i]!==void 0).sort().map(i=>`${JSON.stringify(i)}:${be(e[i])}`).join(",")}}`}return JSON.stringify(s)??"null"}var Ot=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g,Ft=s=>(s.codePointAt(0)??0).toString(16).toUpperCase().padStart(4,"0");function w(s){return s.replace(Ot,e=>`⟨U+${Ft(e)}⟩`)}function Ye(s){return s.replace(Ot,e=>`\\u${Ft(e)}`)}function Lt(s){return/\d{16}/.test(s)?Rt(s):JSON.parse(s)}function z(s,e=""){if(s===void 0)return"";if(typeof s=="bigint")return s.toString();if(s===null||typeof s!="object")return Ye(JSON.stringify(s));let t=`${e}  `,i=Array.isArray(s),n=i?s.map(a=>z(a,t)):Object.entries(s).map(([a,l])=>`${Ye(JSON.stringify(a))}: ${z(l,t)}`),[r,o]=i?["[","]"]:["{","}"];return n.length===0?r+o:`${r}
${t}${n.join(`,
${t}`)}
${e}${o}`}function Qe(s){return typeof s=="string"?w(s):z(s).replace(/\n\s*/g," ")}var E=x`
:host {
--bg: var(--audit-background, light-dark(#ffffff, #14181d));
--surface: var(--audit-surface, light-dark(#f6f7f9, #1b2027));
--raised: var(--audit-raised, light-dark(#ffffff, #20262e));
--text: var(--audit-text, light-dark(#1c2430, #e3e8ee));
--muted: var(--audit-muted, light-dark(#5a6675, #9aa6b4));
--border: var(--audit-border, light-dark(#dfe3e8, #323a45));
--control: var(--audit-control-border, light-dark(#858f9b, #6b7785));
--accent: var(--audit-accent, light-dark(#1f5f99, #7db8ee));
--on-accent: var(--audit-on-accent, light-dark(#ffffff, #10202f));
--selected: var(--audit-selected, light-dark(#e8f0f8, #23303d));
--good: var(--audit-good, light-dark(#1c6b3c, #7fd3a0));
--good-bg: var(--audit-good-background, light-dark(#e6f4ea, #17301f));
--bad: var(--audit-bad, light-dark(#a8261f, #ff9d94));
--bad-bg: var(--audit-bad-background, light-dark(#fdebea, #3a1a19));
--warn: var(--audit-warn, light-dark(#7a4b00, #efc070));
--warn-bg: var(--audit-warn-background, light-dark(#fff4de, #33270f));
--auth: var(--audit-category-auth, light-dark(#3576b8, #6aaae8));
--access: var(--audit-category-access, light-dark(#1f8a7d, #4fc0b1));
--mutation: var(--audit-category-mutation, light-dark(#b57a12, #dda94a));
--admin: var(--audit-category-admin, light-dark(#7b58b3, #ae90e0));
--security: var(--audit-category-security, light-dark(#c2423b, #f0837b));
--system: var(--audit-category-system, light-dark(#6d7885, #97a3b0));
--font: var(--audit-font, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
--mono: var(--audit-mono-font, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace);
--size: var(--audit-font-size, 13px);
--radius: var(--audit-radius, 6px);
font: var(--size) / 1.45 var(--font);
color: var(--text);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 3px 10px; white-space: nowrap;
border: 1px solid var(--border); border-radius: var(--radius); background: var(--raised); cursor: pointer; text-decoration: none;
color: inherit;
}
button:hover:not(:disabled), .button:hover { background: var(--selected); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); background: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
button.plain { border-color: transparent; background: transparent; }
button.icon { padding: 3px 7px; }
button[aria-pressed="true"] { background: var(--selected); border-color: var(--accent); }
input, select, textarea {
min-height: 30px; padding: 3px 8px; border: 1px solid var(--control); border-radius: var(--radius); background: var(--bg);
min-width: 0; max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); line-height: 1.5; }
:is(button, input, select, textarea, a, [tabindex], summary):focus-visible {
outline: 2px solid var(--accent); outline-offset: 1px;
}
a { color: var(--accent); }
code, pre, .mono { font-family: var(--mono); font-size: 0.94em; }
.muted { color: var(--muted); }
.visually-hidden {
position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--system); flex: none; }
.dot.auth { background: var(--auth); } .dot.access { background: var(--access); } .dot.mutation { background: var(--mutation); }
.dot.admin { background: var(--admin); } .dot.security { background: var(--security); }
.dot { forced-color-adjust: none; print-color-adjust: exact; }
@media (forced-colors: active) {
button[aria-pressed="true"] { background: Highlight; color: HighlightText; border-color: Highlight; forced-color-adjust: none; }
.notice { border: 1px solid; }
}
.notice { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px; border-radius: var(--radius);
background: var(--warn-bg); color: var(--warn); }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice.good { background: var(--good-bg); color: var(--good); }
@media (prefers-reduced-motion: no-preference) {
.spinner::before { animation: turn 0.9s linear infinite; }
}
.spinner::before {
content: ""; display: inline-block; width: 12px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border-radius: 50%;
border: 2px solid var(--border); border-top-color: var(--accent);
}
@keyframes turn { to { transform: rotate(1turn); } }
`,Mt=x`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
@media print { :host, :host([theme]) { color-scheme: light; } }
`;var we=class extends y{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[E,x`
:host { display: flex; flex-direction: column; min-width: 0; min-height: 0; background: var(--bg); overflow-wrap: anywhere; }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; }
/* Names have up to 512 characters. All of them are below. */
header > div:first-child > * { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 3px 12px; margin: 0; }
dt { color: var(--muted); min-width: 92px; }
dd { margin: 0; min-width: 0; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; max-height: 60vh; }
.notice { margin-top: 12px; }
@media print {
.buttons, section:has(> button) > button { display: none; }
.body { overflow: visible; }
header > div:first-child > * { -webkit-line-clamp: none; }
pre { max-height: none; }
}
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(e){e.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:e,formats:t}=this,{messages:i}=t,{actor:n,target:r,targets:o,context:a,outcome:l}=e;return c`
<header part="details-header">
<div>
<h3 tabindex="-1">${e.action??e.id}</h3>
<span class="muted">${this.sentence()}</span>
</div>
<div class="buttons">
<button class="plain icon" aria-label=${i.previousEvent} title=${i.previousEvent} @click=${()=>this.step(-1)}>↑</button>
<button class="plain icon" aria-label=${i.nextEvent} title=${i.nextEvent} @click=${()=>this.step(1)}>↓</button>
<button class="plain icon" aria-label=${i.close} title=${i.close} @click=${()=>this.dispatchEvent(new CustomEvent("close"))}>✕</button>
</div>
</header>
<div class="body" tabindex="0" role="group" aria-label=${i.details}>
<section aria-label=${i.proof.title}>
<audit-log-proof .event=${e} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${t} exportparts="proof"></audit-log-proof>
</section>
${e.redacted?c`<p class="notice">${i.redacted}</p>`:h}
        <section>
          <dl>
            ${this.row(i.occurredAt,t.full(e.occurred_at))} ${this.row(i.receivedAt,t.full(e.received_at))}
            ${this.row(i.claimedAt,e.claimed_at&&t.full(e.claimed_at))}
            ${this.row(i.category,e.category&&(i.categories[e.category]??e.category),"category",e.category)}
            ${this.row(i.action,e.action,"action")} ${this.row(i.outcome,l&&(i.outcomes[l]??l),"outcome",l)}
            ${this.row(i.tenant,e.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(e.changes)}
        ${this.section(i.actor,[this.row(i.name,n?.name),this.row(i.id,n?.id,"actor_id"),this.row(i.email,n?.email),this.row(i.type,n?.type&&(i.actorTypes[n.type]??n.type),"actor_type",n?.type),this.row(i.onBehalfOf,Nt(n?.on_behalf_of))],n)}
        ${this.section(i.target,[this.row(i.name,r?.name),this.row(i.id,r?.id,"target_id"),this.row(i.type,r?.type,"target_type"),this.row(i.furtherTargets,o?.slice(1).map(Nt).filter(Boolean).join(", "))],r??o?.[0]??void 0)}
        ${this.section(i.context,[this.row(i.ipAddress,a?.ip_address),this.row(i.location,a?.location),this.row(i.userAgent,a?.user_agent),this.row(i.session,a?.session_id)],a)}
        ${this.section(i.metadata,Ni(e.metadata).map(([u,p])=>this.row(u,p)),e.metadata)}
        <section>
          <dl>${this.row(i.id,e.id)} ${this.row(i.contentHash,e.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?i.hideJson:i.rawJson}</button>
          <button @click=${()=>this.copy(z(e))}>${this.copied?i.copied:i.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?c`<pre tabindex="0" aria-label=${i.rawJson}>${z(e)}</pre>`:h}
        </section>
      </div>
    `}sentence(){let{actor:e,target:t,occurred_at:i}=this.event,n=e?.name??e?.id,r=t?.name??t?.id,o=this.formats.relative(i,Date.now());return w([r?`${n??"?"} → ${r}`:n,o].filter(Boolean).join(" · "))}step(e){this.dispatchEvent(new CustomEvent("step",{detail:e}))}section(e,t,i){return i&&Object.keys(i).length>0?c`<section><h4>${e}</h4><dl>${t}</dl></section>`:h}row(e,t,i,n=t){if(t===void 0||t==="")return h;let{messages:r}=this.formats,o={field:i,value:n},a=w(t),l=i?c`<button class="value" title=${r.filterBy(e,a)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${a}</button>`:a;return c`<dt>${w(e)}</dt><dd>${l}</dd>`}changes(e){if(!e||e.length===0)return h;let{messages:t}=this.formats,i=n=>n===void 0?c`<span class="muted">${t.absent}</span>`:Qe(n);return c`<section>
<h4>${t.changes}</h4>
<table>
<thead><tr><th scope="col">${t.field}</th><th scope="col">${t.before}</th><th scope="col">${t.after}</th></tr></thead>
<tbody>
${e.map(n=>c`<tr><th scope="row">${w(n.field)}</th><td class="before">${i(n.before)}</td><td class="after">${i(n.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(e){this.copied=await ye(e)?this.formats.messages.copied:""}};function Nt(s){return[s?.name,s?.id].filter(Boolean).join(" · ")}function Ni(s){let e=[],t=(i,n)=>{if(!(typeof n=="object"&&n!==null&&!Array.isArray(n)&&Object.keys(n).length>0))return void e.push([i,Qe(n)]);for(let[o,a]of Object.entries(n))t(i?`${i}.${o}`:o,a)};return s&&t("",s),e}var se=["auth","access","mutation","admin","security","system"];var xe=["search","category","action","actor_id","actor_type","target_id","target_type","outcome","tenant_id","start_date","end_date"];function j(s){let e={};for(let t of xe){let i=s[t]?.trim();i&&(e[t]=i)}return e}function Ut(s){return Object.keys(j(s)).length===0}function V(s){let e=j(s);return e.search===void 0?e:{...e,search_mode:"prefix",search_in:["names","ids","email"]}}function It(s){let{search:e,start_date:t,end_date:i,...n}=j(s);return n}function F(s){let e=new URLSearchParams(j(s.filter));return s.event&&e.set("event",s.event),s.isUtc&&e.set("zone","utc"),e.toString()}function Dt(s,e){let t=i=>F({...i,filter:{...i.filter,search:i.filter.search?"…":""},event:i.event&&"…"});return t(s)===t(e)}function ne(s){let e=new URLSearchParams(s.replace(/^#/,"")),t={};for(let n of xe){let r=e.get(n);r&&(t[n]=r)}let i=e.get("event")??"";return{filter:j(t),event:/^evt_[0-9A-Z]{26}$/.test(i)?i:void 0,isUtc:e.get("zone")==="utc"}}function Ht(s){return J(s)?.tenant_id}function J(s){let[,e]=s.replace(/^vt_/,"").split(".");if(!(!s.startsWith("vt_")||!e))try{let t=Uint8Array.from(atob(e.replace(/-/g,"+").replace(/_/g,"/")),i=>i.charCodeAt(0));return JSON.parse(new TextDecoder().decode(t))}catch{return}}var re=class{constructor(e,t,i){this.language=e;this.messages=t;this.buckets=new Map;this.zone=i?"UTC":new Intl.DateTimeFormat().resolvedOptions().timeZone;let n=i?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(e,{...n,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(e,{...n,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(e,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(e)}number(e){return this.numbers.format(e)}absolute(e){return this.absoluteTime.format(new Date(e))}full(e){return this.fullTime.format(new Date(e))}relative(e,t){let i=Math.round((Date.parse(e)-t)/1e3),n=Math.abs(i);if(n<10)return this.messages.justNow;let r=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=r.find(([,l])=>n>=l)??["second",1];return this.relativeTime.format(Math.trunc(i/a),o)}bucket(e,t,i){let n=`${t} ${i}`,r=this.buckets.get(n);if(!r){let o={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric"},week:{year:"numeric",month:"short",day:"numeric"},month:{year:"numeric",month:"long"}};r=new Intl.DateTimeFormat(this.language,{timeZone:i,...o[t]}),this.buckets.set(n,r)}return r.format(new Date(e))}bytes(e){let t=e<1e6?"kilobyte":"megabyte",i=e/(t==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:t,maximumFractionDigits:1}).format(i)}};function jt(s,e,t){let i=new Date(s);if(e==="minute")return i.getTime()+6e4;if(e==="hour")return i.getTime()+36e5;let[n,r]={day:[0,1],week:[0,7],month:[1,0]}[e];return t==="UTC"?Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+n,i.getUTCDate()+r):new Date(i.getFullYear(),i.getMonth()+n,i.getDate()+r).getTime()}function Bt(s,e){if(!s||Number.isNaN(Date.parse(s)))return"";let t=new Date(s);return(e?t:new Date(t.getTime()-t.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function zt(s,e,t){if(!s)return;let i=Date.parse(e?`${s}Z`:s);return Number.isNaN(i)?void 0:new Date(i+(t?999:0)).toISOString()}var Ui=350,Vt={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},$e=class extends y{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[E,x`
:host { display: block; }
.row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin-top: 8px; }
.search { flex: 1 1 180px; }
label { display: flex; flex-direction: column; gap: 2px; min-width: 0; font-size: 0.88em; color: var(--muted); }
label > :is(input, select) { font-size: var(--size); color: var(--text); width: 100%; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
.chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
.chip span:last-of-type { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
.dates { display: flex; flex-wrap: wrap; gap: 8px; }
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(e,t){let i={...this.filter};t?i[e]=t:delete i[e],this.change(i)}change(e){clearTimeout(this.typing),this.filter=e,this.dispatchEvent(new CustomEvent("filter-change",{detail:j(e)}))}onInput(e,t){let{value:i}=t.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(e,i),Ui)}onEnter(e,t){t.key==="Enter"&&this.set(e,t.target.value)}rangeName(){let{start_date:e,end_date:t}=this.filter;return this.isCustomRange?"custom":!e&&!t?"all":this.chosen&&!t&&this.chosen.start===e?this.chosen.name:"custom"}onRange(e){let{value:t}=e.target;if(this.isCustomRange=t==="custom",t==="custom")return;let{start_date:i,end_date:n,...r}=this.filter;if(t==="all")return this.change(r);let o=t,a=new Date(Date.now()-Vt[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...r,start_date:a})}render(){let{messages:e}=this.formats,t=this.rangeName(),i=Object.keys(this.filter).length;return c`
<div class="row" role="search" part="filters">
<input
class="search"
type="search"
aria-label=${e.search}
placeholder=${`${e.search}: ${e.searchHint}`}
          maxlength="256"
          .value=${this.filter.search??""}
          @input=${n=>this.onInput("search",n)}
          @keydown=${n=>this.onEnter("search",n)}
        />
        <select aria-label=${e.category} @change=${n=>this.set("category",n.target.value)}>
          <option value="" .selected=${!this.filter.category}>${e.allCategories}</option>
          ${se.map(n=>c`<option value=${n} .selected=${this.filter.category===n}>${this.categoryLabel(n)}</option>`)}
        </select>
        <select aria-label=${e.range} @change=${this.onRange}>
          ${["all",...Object.keys(Vt),"custom"].map(n=>c`<option value=${n} .selected=${t===n}>${e.ranges[n]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?e.fewerFilters:e.moreFilters}
        </button>
        ${i>0?c`<button class="plain" @click=${()=>this.clear()}>${e.clearFilters}</button>`:h}
        <slot></slot>
      </div>
      ${t==="custom"?this.dates():h}
      ${this.isExpanded?this.fields():h} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(e){let t=this.formats.messages.categories[e]??e,i=this.top?.category?.find(n=>n.value===e);return i?`${t} (${this.formats.number(i.count)})`:t}dates(){let{messages:e}=this.formats,t=(i,n)=>c`
<label>
${n} (${this.formats.zone})
<input
type="datetime-local"
step="1"
.value=${Bt(this.filter[i],this.isUtc)}
@change=${r=>this.set(i,zt(r.target.value,this.isUtc,i==="end_date"))}
/>
</label>
`;return c`<div class="dates">${t("start_date",e.from)} ${t("end_date",e.to)}</div>`}fields(){let{messages:e}=this.formats,t=[{field:"action",label:e.action,hint:e.actionHint,suggestions:"action"},{field:"actor_id",label:e.actorId,suggestions:"actor_id"},{field:"target_id",label:e.targetId},{field:"target_type",label:e.targetType,suggestions:"target_type"}];return this.hasTenants&&t.push({field:"tenant_id",label:e.tenant,suggestions:"tenant_id"}),c`<div class="grid">
${t.map(i=>this.textField(i))} ${this.choice("actor_type",e.actorType,e.actorTypes)}
${this.choice("outcome",e.outcome,e.outcomes)}
</div>`}choice(e,t,i){return c`<label>
${t}
<select @change=${n=>this.set(e,n.target.value)}>
<option value="" .selected=${!this.filter[e]}>${this.formats.messages.any}</option>
${Object.entries(i).map(([n,r])=>c`<option value=${n} .selected=${this.filter[e]===n}>${r}</option>`)}
      </select>
    </label>`}textField({field:e,label:t,hint:i,suggestions:n}){let r=(n&&this.top?.[n])??[],o=`suggestions-${e}`;return c`<label>
${t}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${i??""}
list=${r.length>0?o:h}
.value=${this.filter[e]??""}
@input=${a=>this.onInput(e,a)}
@keydown=${a=>this.onEnter(e,a)}
/>
</label>
${r.length>0?c`<datalist id=${o}>${r.map(({value:a,count:l})=>c`<option value=${a}>${this.formats.number(l)}</option>`)}</datalist>`:h}`}chips(){let{messages:e}=this.formats,t={search:e.search,category:e.category,action:e.action,actor_id:e.actorId,actor_type:e.actorType,target_id:e.targetId,target_type:e.targetType,outcome:e.outcome,tenant_id:e.tenant,start_date:e.from,end_date:e.to},i=xe.filter(r=>this.filter[r]&&r!=="search"&&r!=="category");if(i.length===0)return h;let n=(r,o)=>r.endsWith("_date")?this.formats.absolute(o):w(o);return c`<div class="chips">
${i.map(r=>{let o=n(r,this.filter[r]??"");return c`<button class="chip" title=${e.removeFilter(t[r],o)} @click=${()=>this.set(r,void 0)}>
          <span class="muted">${t[r]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var R=64,ke=class extends y{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([t])=>{t&&(this.width=Math.floor(t.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},asOf:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[E,x`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${R}px; print-color-adjust: exact; }
@media (max-height: 500px) { svg { height: ${R/2}px; } .legend { display: none; } }
.old svg { opacity: 0.5; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; gap: 2px 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.caption b.old { color: var(--warn); }
.period { margin-inline-start: auto; text-align: end; }
.zoom { min-height: 20px; padding: 0 6px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let t=this.renderRoot.querySelector(".chart");t&&this.observer.observe(t)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(t){t.has("summary")&&(this.bars=this.summary?Ii(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(t){let i=this.bars[t];if(!i||!this.summary)return"";let{messages:n}=this.formats,r=n.eventCount(this.formats.number(i.count),i.count===1);return n.bucket(this.name(i),r)}selectionLabel(){let[t,i]=this.selection();if(t===i)return this.label(t);let n=this.bars.slice(t,i+1).reduce((a,l)=>a+l.count,0),{messages:r}=this.formats,o=`${this.name(this.bars[t])} – ${this.name(this.bars[i])}`;return r.bucket(o,r.eventCount(this.formats.number(n),n===1))}name(t){return t&&this.summary?this.formats.bucket(t.start,this.summary.interval,this.summary.zone):""}selection(){let t=this.anchor??this.active;return[Math.min(t,this.active),Math.max(t,this.active)]}render(){let{messages:t}=this.formats,i=this.bars.length,n=Math.max(1,...this.bars.map(d=>d.count)),r=i?this.width/i:0,o=r>4?1:0,[a,l]=this.selection(),u=this.bars.map((d,f)=>this.stack(d,f*r,Math.max(r-o,.5),n)),p=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return c`
<div
class="chart ${this.asOf?"old":""}"
part="histogram"
role="slider"
tabindex="0"
aria-label=${t.histogram}
aria-valuemin="0"
aria-valuemax=${Math.max(i-1,0)}
aria-valuenow=${Math.max(this.active,0)}
aria-valuetext=${this.active>=0?this.selectionLabel():t.histogramHelp}
title=${t.histogramHelp}
@keydown=${this.onKey}
@focus=${()=>!this.isDragging&&this.moveTo(this.active<0?i-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointercancel=${()=>this.endDrag()}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${R}" preserveAspectRatio="none" aria-hidden="true">
${u}
<line class="base" x1="0" x2=${this.width} y1=${R-.5} y2=${R-.5}></line>
${p||this.active>=0&&r>0?ve`<rect class="selection" x=${a*r} y="0" width=${(l-a+1)*r} height=${R}></rect>`:h}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?c`<b aria-live="off">${this.selectionLabel()}</b>`:h} ${this.legend()}
        <span class="period">
          ${this.asOf?c`<b class="old">${this.asOf}</b> · `:h}${this.caption()}
          ${this.isZoomed?c`<button class="plain zoom" @click=${()=>this.zoomOut()}>${t.zoomOut}</button>`:h}
        </span>
      </div>
    `}legend(){let t=se.filter(l=>this.bars.some(u=>u.categories?.[l])),i=this.formats.messages.categories,[n,r]=this.selection(),o=this.active<0?[]:this.bars.slice(n,r+1),a=l=>{let u=o.reduce((p,d)=>p+(d.categories?.[l]??0),0);return u>0?` ${this.formats.number(u)}`:""};return c`<span class="legend">${t.map(l=>c`<span><span class="dot ${l}"></span>${i[l]??l}${a(l)}</span>`)}</span>`}caption(){let[t,i]=[this.bars[0],this.bars.at(-1)];return!t||!i||!this.summary?h:this.active>=0?this.summary.zone:`${this.name(t)} – ${this.name(i)} · ${this.summary.zone}`}stack(t,i,n,r){if(t.count===0)return h;let o=(R-4)/r;if(!t.categories){let l=Math.max(t.count*o,1.5);return ve`<rect class="all" x=${i} width=${n} y=${R-l} height=${l}></rect>`}let a=R;return se.map(l=>{let u=t.categories?.[l]??0;if(u===0)return h;let p=Math.max(u*o,1.5);return a-=p,ve`<rect class=${l} x=${i} width=${n} y=${Math.max(a,0)} height=${p}></rect>`})}moveTo(t,i){i?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(t,this.bars.length-1))}onKey(t){let n=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:n,ArrowLeft:-n,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[t.key];if(o!==void 0)this.moveTo(this.active+o,t.shiftKey);else if(t.key==="Enter"||t.key===" ")this.zoom();else if(t.key==="Escape"&&this.isZoomed)this.zoomOut();else return;t.preventDefault(),t.stopPropagation()}indexAt(t){let i=t.currentTarget.getBoundingClientRect(),n=Math.max(0,Math.min(t.clientX-i.left,i.width-1));return Math.floor(n/i.width*this.bars.length)}onDown(t){t.button!==0||this.bars.length===0||(t.currentTarget.setPointerCapture(t.pointerId),this.isDragging=!0,this.active=this.indexAt(t),this.anchor=this.active)}onMove(t){this.bars.length>0&&(this.active=this.indexAt(t))}endDrag(){this.isDragging=!1,this.anchor=void 0}onUp(t){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(t),this.zoom())}zoom(){let[t,i]=this.selection(),[n,r]=[this.bars[t],this.bars[i]];if(!n||!r)return;let o={start:new Date(n.start).toISOString(),end:new Date(r.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function Ii({buckets:s,interval:e,zone:t}){let i=s.slice(1).map(({start:n})=>Date.parse(n));return s.map((n,r)=>({...n,end:i[r]??jt(n.start,e,t)}))}var k=class extends Error{constructor(t,i,n){super(i,n);this.code=t}code;name="VerificationError"};function g(s,e,t){if(!s)throw new k(e,t)}var Di=new TextEncoder;function K(s){return Di.encode(s)}function Ae(...s){let e=new Uint8Array(s.reduce((i,n)=>i+n.length,0)),t=0;for(let i of s)e.set(i,t),t+=i.length;return e}function W(s,e){if(s.length!==e.length)return!1;let t=0;for(let i=0;i<s.length;i+=1)t|=s[i]^e[i];return t===0}function et(s){return Array.from(s,e=>e.toString(16).padStart(2,"0")).join("")}function q(s,e,t){return g(typeof s=="string"&&s.length===2*t&&/^[0-9a-f]*$/.test(s),"malformed",`${e} is not ${2*t} hexadecimal digits`),Uint8Array.from({length:t},(i,n)=>Number.parseInt(s.slice(2*n,2*n+2),16))}function L(s,e){g(typeof s=="string","malformed",`${e} is not base64`);let t;try{t=atob(s)}catch(i){throw new k("malformed",`${e} is not base64`,{cause:i})}return g(btoa(t)===s,"malformed",`${e} is not base64`),Uint8Array.from(t,i=>i.charCodeAt(0))}function _e(){let s=globalThis.crypto?.subtle;if(s===void 0)throw new k("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return s}async function T(...s){return new Uint8Array(await _e().digest("SHA-256",Ae(...s)))}var Hi=128,ji=Uint8Array.of(0),Bi=Uint8Array.of(1);function it(s){return T(ji,s)}function tt(s,e){return T(Bi,s,e)}function Jt(s,e){return g(Array.isArray(s)&&s.length<=Hi,"malformed",`${e} is not a list of hashes`),s.map(t=>{let i=L(t,`a hash of ${e}`);return g(i.length===32,"malformed",`a hash of ${e} is not 32 bytes long`),i})}async function st(s){let{index:e,size:t}=s;g(Number.isSafeInteger(e)&&e>=0&&e<t,"not_included","the log has no such position");let i=e,n=t-1,r=s.leaf;for(let o of s.hashes){if(g(n!==0,"not_included","the proof has too many hashes"),i%2===1||i===n)for(r=await tt(o,r);i%2===0&&i!==0;)i=Math.floor(i/2),n=Math.floor(n/2);else r=await tt(r,o);i=Math.floor(i/2),n=Math.floor(n/2)}g(n===0,"not_included","the proof has too few hashes"),g(W(r,s.root),"not_included","the event is not in the log at this position")}var zi=128*1024,Vi=100,Kt="— ",Ji=1;async function Wt(s){let e=a=>{throw new k("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[t="",i="",...n]=s.trim().split("+"),r=(()=>{try{return{id:q(i,"the key id",4),bytes:L(n.join("+"),"the key")}}catch(a){return e(a)}})();(!qt(t)||r.bytes.length!==33||r.bytes[0]!==Ji)&&e();let o=(await T(K(`${t}
`),r.bytes)).slice(0,4);return g(W(o,r.id),"invalid_key","the key id is not that of the key"),{name:t,id:r.id,publicKey:r.bytes.slice(1)}}function qt(s){return s!==""&&!/[\s+\u0000-\u001f]/u.test(s)}async function Ki(s){let e=typeof s=="string"?[s]:s;return g(e.length>0,"invalid_key","no key is given"),Promise.all(e.map(Wt))}function Wi(s){let e="a line after the text of the note is not a signature";g(s.startsWith(Kt),"malformed",e);let[t="",i,...n]=s.slice(Kt.length).split(" ");g(qt(t)&&n.length===0,"malformed",e);let r=L(i,"a signature");return g(r.length>4,"malformed",e),{name:t,id:r.slice(0,4),bytes:r.slice(4)}}async function qi(s,e,t){let i;try{i=await _e().importKey("raw",s.publicKey,{name:"Ed25519"},!1,["verify"])}catch(n){throw new k("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:n})}return _e().verify({name:"Ed25519"},i,t,K(e))}async function Zt(s,e){g(typeof s=="string"&&s.length<=zi,"malformed","the note is too long"),g(!/[\u0000-\u0009\u000b-\u001f]/.test(s),"malformed","the note has control characters");let t=s.lastIndexOf(`

`);g(t>=0&&s.endsWith(`
`)&&s.length>t+2,"malformed","the note has no signatures");let i=s.slice(0,t+1),n=s.slice(t+2,-1).split(`
`);g(n.length<=Vi,"malformed","the note has too many signatures");let r;for(let o of n.map(Wi)){let a=e.find(({name:l,id:u})=>l===o.name&&W(u,o.id));a!==void 0&&(g(await qi(a,i,o.bytes),"invalid_signature","a signature is not valid"),r??=a)}return g(r!==void 0,"invalid_signature","the note is not signed by the given key"),{text:i,key:r}}async function nt(s,e,t){let{text:i,key:n}=await Zt(s,await Ki(e)),[r="",o="",a="",...l]=i.slice(0,-1).split(`
`);g(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let u=Number(o);g(Number.isSafeInteger(u),"malformed","the size of the checkpoint is too large");let p=L(a,"the root of the checkpoint");return g(p.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),g(u>0||W(p,await T()),"malformed","the root is not that of the empty log"),g(l.every(d=>d!==""),"malformed","the checkpoint has an empty line"),t!==void 0&&g(r===t,"other_log",`this is a checkpoint of ${r}, not of ${t}`),g(r.startsWith(`${n.name}/`),"other_log",`${r} is not a log of ${n.name}`),{origin:r,size:u,root:p,signedBy:n.name}}function rt(s){let e=s.origin.slice(s.signedBy.length+1),t=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(e);return g(t!==null,"other_log",`${s.origin} is not the log of a project or of one of its tenants`),{log:t[1],tenantLabel:t[2]}}var O=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],Gt={kind:["action","actor.type","category","target.type","outcome"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name","actor.on_behalf_of"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name","targets"]},Zi=["id","occurred_at","received_at","tenant_id","claimed_at"],Gi=new Set(["claimed_at","outcome","actor.on_behalf_of","targets"]),Ee=16,Xi=32;function Yi(s,e){let t=s;for(let i of e.split(".")){if(typeof t!="object"||t===null||!Object.hasOwn(t,i))return;t=t[i]}return t}function Xt(s,e){let t=e.flatMap(i=>{let n=Yi(s,i);return n!==void 0?[be(n)]:Gi.has(i)?[]:[""]});return K(t.join(`
`))}async function Qi(s){let e=Array.from({length:Math.ceil(O.length/2)},(i,n)=>T(Uint8Array.of(4),s,Uint8Array.of(n))),t=Ae(...await Promise.all(e));return O.map((i,n)=>t.slice(Ee*n,Ee*(n+1)))}function Yt(s,e,t){return T(Uint8Array.of(2),t,Uint8Array.of(e),Xt(s,Gt[O[e]]))}function Qt(s,e,t){return T(Uint8Array.of(3),K(`${t}
`),...e,Xt(s,Zi))}async function ot(s,e,t){let i=await Qi(q(e,"content_salt",Ee)),n=await Promise.all(i.map((r,o)=>Yt(s,o,r)));return Qt(s,n,t)}async function at(s,e,t){g(Object.keys(e).length===O.length&&O.every(n=>Object.hasOwn(e,n)),"malformed","the proof does not have the eleven parts of an event");let i=O.map((n,r)=>{let o=e[n];return g(typeof o=="object"&&o!==null,"malformed",`the part ${n} is not an object`),"hash"in o?(g(!("salt"in o),"malformed",`the part ${n} has both a salt and a hash`),q(o.hash,`the hash of the part ${n}`,Xi)):Yt(s,r,q(o.salt,`the salt of the part ${n}`,Ee))});return Qt(s,await Promise.all(i),t)}var $=class extends Error{constructor(t,i,n=0,r="",o="",a=[],l){super(i);this.kind=t;this.status=n;this.code=r;this.requestId=o;this.details=a;this.#e=l}#e;refuses(t){return this.kind==="expired"&&(this.#e===void 0||this.#e===t)}},es={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},oe=class{constructor(e){this.connection=e}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(e,t={},i){return this.json(await this.fetch("GET",e,{parameters:t,signal:i}))}async text(e,t={}){return(await this.fetch("GET",e,{parameters:t})).text().catch(lt)}async send(e,t,i,n={}){return this.json(await this.fetch(e,t,{parameters:n,body:i}))}async json(e){let t=await e.text().catch(lt);try{return Lt(t)}catch{throw new $("server","the response is not JSON",e.status)}}async fetch(e,t,i={}){let{credential:n,baseUrl:r,projectId:o,environment:a}=this.connection,l=new URLSearchParams;for(let[v,b]of Object.entries(i.parameters??{}))if(!(b===void 0||b===""))for(let G of Array.isArray(b)?b:[b])l.append(v,String(G));this.isMaster&&a==="test"&&/^\/(events|destinations|alerts(\?|$|\/alt_)|log)/.test(t)&&l.set("environment","test");let u={};n&&(u.Authorization=`Bearer ${n}`),this.isMaster&&o&&!t.startsWith("/projects")&&(u["X-Project-Id"]=o),i.accept&&(u.Accept=i.accept);let p={method:e,headers:u,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};i.signal&&(p.signal=i.signal),i.body!==void 0&&(u["Content-Type"]="application/json",p.body=JSON.stringify(i.body));let d=l.toString(),f=`${r.replace(/\/+$/,"")}/api/v1${t}${d&&`?${d}`}`,m=await fetch(f,p).catch(lt);if(!m.ok)throw await ts(m,n);return m}};function lt(s){throw s instanceof DOMException&&s.name==="AbortError"?s:new $("offline","no response from the server")}async function ts(s,e){let t=await s.json().catch(()=>({})),i=es[s.status]??"server",n=t.error?.message??`status ${s.status}`;return new $(i,n,s.status,t.error?.code,t.request_id,t.error?.details,e)}function A(s){return s instanceof DOMException&&s.name==="AbortError"}function _(s){return s instanceof $?s:new $("server",s instanceof Error?s.message:String(s))}async function Te(s,e,t){let i,n=t?.trim()||void 0;try{i=await s.get(`/events/${e.id}/proof`),!n&&!s.isViewer&&(n=(await s.text("/log/key")).trim())}catch(r){let o=_(r),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return ss(e,i,n,!!t?.trim(),is(s))}function is(s){let e=J(s.connection.credential)?.sub;return e?`${e}/live`:void 0}async function ss(s,e,t,i,n){let r=[],o=async(d,f)=>{try{return r.push({name:d,state:"ok",detail:await f()}),!0}catch(m){if(m instanceof k&&m.code==="unsupported_runtime")throw m;return r.push({name:d,state:"failed",detail:m instanceof Error?m.message:String(m)}),!1}},a=as(e.checkpoint),l=a?ls(a.origin):void 0;try{if(await o("identity",async()=>ns(s,e,l,n)),await o("content",()=>rs(s,e,l)),await o("inclusion",()=>os(e,a)),t){let d;await o("signature",async()=>(d=await nt(e.checkpoint,t,a?.origin),rt(d),d.signedBy))}else r.push({name:"signature",state:"skipped",detail:""})}catch(d){return{outcome:"unavailable",steps:r,reason:"unsupported",message:_(d).message,hidden:[]}}r.push({name:"key",state:i&&r.at(-1)?.state==="ok"?"ok":"skipped",detail:t??""});let p={outcome:r.some(d=>d.state==="failed")?"failed":i?"verified":"consistent",steps:r,hidden:ds(e),position:e.seq,key:t};return a&&Object.assign(p,{origin:a.origin,size:a.size}),p}function ns(s,e,t,i){if(s.content_hash!==e.content_hash)throw new Error("the proof is one of another event");if(!t)throw new Error("the checkpoint does not name a log of a project");if(i&&t!==i)throw new Error(`the proof is one of the log ${t}`);return s.id}async function rs(s,e,t){if(!t)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:i,parts:n}=e,o=typeof i=="string"?await ot(s,i,t):await at(s,n??{},t),a=`sha256:${et(o)}`;if(a!==e.content_hash)throw new Error(`the fields shown give ${a}, the log has ${e.content_hash}`);return a}async function os(s,e){if(!e)throw new Error("the checkpoint is not in the form of one");let t=s.content_hash.replace(/^sha256:/,""),i=Uint8Array.from(t.match(/../g)??[],o=>Number.parseInt(o,16)),n=Jt(s.inclusion,"the inclusion proof"),r=await it(i);return await st({index:s.seq,size:e.size,leaf:r,hashes:n,root:L(e.root,"the root")}),`${s.seq} / ${e.size}`}function as(s){if(typeof s!="string")return;let[e="",t="",i=""]=s.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(t)?{origin:e,size:Number(t),root:i}:void 0}function ls(s){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(s)?.[1]}function ds(s){let{content_salt:e,parts:t}=s;return typeof e=="string"||!t?[]:O.filter(i=>Object.hasOwn(t[i]??{},"hash"))}var Se=class extends y{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[E,x`
:host { display: block; overflow-wrap: anywhere; }
.mark { border-inline-start: 4px solid var(--border); padding: 8px 12px; border-radius: var(--radius); background: var(--surface); }
.mark.verified { border-color: var(--good); background: var(--good-bg); }
.mark.consistent { border-color: var(--accent); background: var(--selected); }
.mark.failed { border-color: var(--bad); background: var(--bad-bg); }
.mark.unavailable { border-color: var(--warn); }
h4 { display: flex; align-items: center; gap: 8px; margin: 0 0 4px; font-size: 1em; }
.verified h4 { color: var(--good); } .consistent h4 { color: var(--accent); } .failed h4 { color: var(--bad); } .unavailable h4 { color: var(--warn); }
p { margin: 4px 0; }
ul { margin: 8px 0; padding: 0; list-style: none; }
li { padding-block: 2px; padding-inline-start: 22px; position: relative; }
li::before { position: absolute; inset-inline-start: 2px; }
li.ok::before { content: "✓"; color: var(--good); } li.failed::before { content: "✗"; color: var(--bad); font-weight: 700; }
li.skipped::before { content: "–"; }
.detail { display: block; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; }
`]}willUpdate(t){(t.has("event")||t.has("pinnedKey"))&&this.check()}async check(){let t=++this.run;this.report=void 0;let i=await Te(this.api,this.event,this.pinnedKey);if(t!==this.run)return;this.report=i;let n={event:this.event.id,outcome:i.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:n,bubbles:!0,composed:!0}))}render(){let{messages:t}=this.formats,i=t.proof,{report:n}=this;if(!n)return c`<div class="mark" role="status"><p class="spinner">${i.running}</p></div>`;let r={verified:i.verified,consistent:i.consistent,failed:i.failed,unavailable:i.unavailable},o={verified:i.verifiedText,consistent:i.consistentText,failed:i.failedText,unavailable:this.reason(n)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},l=n.outcome==="verified"||n.outcome==="consistent";return c`
<div class="mark ${n.outcome}" part="proof proof-${n.outcome}" role=${n.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[n.outcome]}</span>${r[n.outcome]}</h4>
<p>${o[n.outcome]}</p>
${n.outcome==="consistent"?c`<p>${n.key?i.unpinnedText:i.noKeyText}</p>`:h}
        ${n.hidden.length>0?c`<p>${i.hidden(n.hidden.join(", "))}</p>`:h}
        ${n.steps.length>0?c`<details ?open=${!l}>
<summary>${i.checks}</summary>
${n.outcome==="verified"?c`<p>${i.pinnedText}</p>`:h}
              <ul class="steps">${n.steps.map(u=>this.step(u))}</ul>
              ${this.facts(n)}
            </details>`:h}
        <details>
          <summary>${i.notProven}</summary>
          <ul>${i.notProvenList.map(u=>c`<li>${u}</li>`)}</ul>
        </details>
        ${l?h:c`<p><button @click=${()=>this.check()}>${i.again}</button></p>`}
      </div>
    `}reason(t){let i=this.formats.messages.proof,r={forbidden:i.tier,unsupported:i.unsupported,offline:this.formats.messages.offlineText,other:""}[t.reason??"other"]||t.message||"";return`${i.unavailableText} ${r}`}step({name:t,state:i,detail:n}){let r=this.formats.messages.proof;return c`<li class=${i}>
${r.steps[t]}${i==="skipped"?c` <span class="muted">(${r.skipped})</span>`:h}
      ${i==="failed"?c`<code class="detail">${n}</code>`:h}
    </li>`}facts({position:t,size:i,origin:n,key:r}){let o=this.formats.messages.proof;return t===void 0||i===void 0?h:c`
<p>${o.position(this.formats.number(t+1),this.formats.number(i))}</p>
<dl>
${n?c`<dt class="muted">${o.signedBy}</dt><dd class="mono">${n}</dd>`:h}
        ${r?c`<dt class="muted">${o.key}</dt><dd class="mono">${r}</dd>`:h}
      </dl>
    `}};var cs=4e3,Pe=class{constructor(e){this.host=e}show(e){clearTimeout(this.timer),this.state=e,this.host.requestUpdate()}async copy(){let e=await ye(this.host.link);this.show(e?"copied":"refused"),e&&(this.host.announcement=this.host.formats.messages.copied,this.timer=setTimeout(()=>this.show(void 0),cs))}toast(){return this.state==="copied"?c`<div class="toast" aria-hidden="true">${this.host.formats.messages.copied}</div>`:h}message(){if(this.state!=="refused")return h;let{messages:e}=this.host.formats;return c`<div class="notice" role="status"><label for="link">${e.linkToCopy}</label>
<input id="link" readonly .value=${this.host.link} @focus=${t=>t.target.select()} />
<button @click=${()=>this.show(void 0)}>${e.close}</button></div>`}};function hs(s){return{for:"excel",separator:new Intl.NumberFormat(navigator.language).formatToParts(1.5).some(({type:i,value:n})=>i==="decimal"&&n===",")?"semicolon":"comma",time_zone:s}}function us(s){let[,e]=/;\s*filename\*\s*=\s*UTF-8'[^']*'([^\s;]+)/i.exec(s)??[];try{if(e)return decodeURIComponent(e)}catch{}let[,t,i]=/;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(s)??[];return t?.replace(/\\(.)/g,"$1")??i}async function ei(s,e,t,i,n,r){let o=t==="excel"?hs(i):{format:t},a=await s.fetch("GET","/events/export",{parameters:{...V(e),...o},signal:r}),l=us(a.headers.get("content-disposition")??"")||`audit-events.${t==="jsonl"?"jsonl":"csv"}`,u=[],p=0,d=a.body?.getReader();for(;;){let f=await d?.read().catch(ps);if(!f||f.done)break;u.push(f.value),p+=f.value.length,n(p)}fs(new Blob(u,{type:a.headers.get("content-type")??"application/octet-stream"}),l)}function ps(s){throw A(s)?s:new $("offline","the export was interrupted")}function fs(s,e){let t=URL.createObjectURL(s),i=document.createElement("a");i.href=t,i.download=e,i.click(),setTimeout(()=>URL.revokeObjectURL(t),6e4)}var Ce=class{constructor(e){this.host=e;this.isMenuOpen=!1;this.failure=""}abort(){this.running?.abort()}openMenu(e){this.isMenuOpen=e,this.host.requestUpdate()}async save(e,t,i,n){this.openMenu(!1),this.abort();let r=new AbortController;this.running=r,this.failure="";let o=a=>{this.bytes=a,this.host.requestUpdate()};o(0);try{await ei(e,t,i,n,o,r.signal)}catch(a){A(a)||(this.failure=_(a).message)}finally{o(void 0)}}menu(e,t,{messages:i,zone:n}){return c`<div class="menu" @focusout=${a=>{a.currentTarget.contains(a.relatedTarget)||this.openMenu(!1)}} @keydown=${a=>{a.key==="Escape"&&(this.openMenu(!1),a.currentTarget.querySelector("button")?.focus())}}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.openMenu(!this.isMenuOpen)}>${i.download}</button>
${this.isMenuOpen?c`<div>
            <button @click=${()=>this.save(e,t,"excel",n)}>${i.downloadExcel}</button>
            <button @click=${()=>this.save(e,t,"csv",n)}>${i.downloadCsv}</button>
            <button @click=${()=>this.save(e,t,"jsonl",n)}>${i.downloadJson}</button>
          </div>`:h}
    </div>`}message(e){let{messages:t}=e;return this.bytes!==void 0?c`<div class="notice good" role="status">${t.downloading(e.bytes(this.bytes))}
<button @click=${()=>this.abort()}>${t.cancel}</button></div>`:this.failure?c`<div class="notice bad" role="alert">${t.downloadFailed}: ${this.failure}</div>`:h}};var ti={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},ii=s=>(...e)=>({_$litDirective$:s,values:e}),Re=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,i){this._$Ct=e,this._$AM=t,this._$Ci=i}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};var{I:ms}=Pt,si=s=>s;var ni=()=>document.createComment(""),Z=(s,e,t)=>{let i=s._$AA.parentNode,n=e===void 0?s._$AB:e._$AA;if(t===void 0){let r=i.insertBefore(ni(),n),o=i.insertBefore(ni(),n);t=new ms(r,o,s,s.options)}else{let r=t._$AB.nextSibling,o=t._$AM,a=o!==s;if(a){let l;t._$AQ?.(s),t._$AM=s,t._$AP!==void 0&&(l=s._$AU)!==o._$AU&&t._$AP(l)}if(r!==n||a){let l=t._$AA;for(;l!==r;){let u=si(l).nextSibling;si(i).insertBefore(l,n),l=u}}}return t},M=(s,e,t=s)=>(s._$AI(e,t),s),gs={},ri=(s,e=gs)=>s._$AH=e,oi=s=>s._$AH,Oe=s=>{s._$AR(),s._$AA.remove()};var ai=(s,e,t)=>{let i=new Map;for(let n=e;n<=t;n++)i.set(s[n],n);return i},li=ii(class extends Re{constructor(s){if(super(s),s.type!==ti.CHILD)throw Error("repeat() can only be used in text expressions")}dt(s,e,t){let i;t===void 0?t=e:e!==void 0&&(i=e);let n=[],r=[],o=0;for(let a of s)n[o]=i?i(a,o):o,r[o]=t(a,o),o++;return{values:r,keys:n}}render(s,e,t){return this.dt(s,e,t).values}update(s,[e,t,i]){let n=oi(s),{values:r,keys:o}=this.dt(e,t,i);if(!Array.isArray(n))return this.ut=o,r;let a=this.ut??=[],l=[],u,p,d=0,f=n.length-1,m=0,v=r.length-1;for(;d<=f&&m<=v;)if(n[d]===null)d++;else if(n[f]===null)f--;else if(a[d]===o[m])l[m]=M(n[d],r[m]),d++,m++;else if(a[f]===o[v])l[v]=M(n[f],r[v]),f--,v--;else if(a[d]===o[v])l[v]=M(n[d],r[v]),Z(s,l[v+1],n[d]),d++,v--;else if(a[f]===o[m])l[m]=M(n[f],r[m]),Z(s,n[d],n[f]),f--,m++;else if(u===void 0&&(u=ai(o,m,v),p=ai(a,d,f)),u.has(a[d]))if(u.has(a[f])){let b=p.get(o[m]),G=b!==void 0?n[b]:null;if(G===null){let ht=Z(s,n[d]);M(ht,r[m]),l[m]=ht}else l[m]=M(G,r[m]),Z(s,n[d],G),n[b]=null;m++}else Oe(n[f]),f--;else Oe(n[d]),d++;for(;m<=v;){let b=Z(s,l[v+1]);M(b,r[m]),l[m++]=b}for(;d<=f;){let b=n[d++];b!==null&&Oe(b)}return this.ut=o,ri(s,l),C}});function di(s){return c`<div class="line" role="row" id="row-${s}" aria-rowindex=${s+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`}function ci(s,e,t,i){let{position:n,isActive:r,isOpen:o,isFresh:a,isRelative:l,hasTenant:u,open:p}=e,d=[r&&"active",o&&"open",a&&"fresh",i.isTampered(s)&&"tampered"],f=l?t.relative(s.occurred_at,Date.now()):t.absolute(s.occurred_at),{category:m}=s,v=m?t.messages.categories[m]??m:"–";return c`<div class="line ${d.filter(Boolean).join(" ")}" role="row" part="row" id="row-${n}" aria-rowindex=${n+2} aria-selected=${o} @click=${p}>
<div role="gridcell" class="when"><time datetime=${s.occurred_at} title=${t.full(s.occurred_at)}>${f}</time></div>
<div role="gridcell" class="action">${m?c`<span class="dot ${m}"></span>`:h}<span>${s.action??"–"}</span>${i.mark(s,t)}</div>
    <div role="gridcell" class="category secondary">${v}</div>
    <div role="gridcell" class="who" title=${w(s.actor?.id??"")}>${w(s.actor?.name??s.actor?.id??"–")}</div>
    <div role="gridcell" class="what secondary" title=${w(s.target?.id??"")}>${w(s.target?.name??s.target?.id??"–")}</div>
    ${u?c`<div role="gridcell" class="tenant secondary">${w(s.tenant_id)}</div>`:h}
  </div>`}var vs=34,ys=56,bs=710,ws=810,xs=700,$s=30,hi=12,ks=2e3,As=80,Fe=class{constructor(e){this.host=e;this.active=0;this.isNarrow=!1;this.isSmall=!1;this.isPrinting=!1;this.arrivedCount=0;this.resize=new ResizeObserver(([e])=>{e&&(this.isSmall=e.contentRect.width<xs),this.host.requestUpdate()});this.onPrint=({type:e})=>{this.isPrinting=e==="beforeprint",this.host.requestUpdate()}}connect(){this.resize.observe(this.host),addEventListener("beforeprint",this.onPrint),addEventListener("afterprint",this.onPrint)}disconnect(){this.resize.disconnect(),removeEventListener("beforeprint",this.onPrint),removeEventListener("afterprint",this.onPrint)}get printedCount(){return Math.min(this.host.events.length,ks)}get element(){return this.host.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?ys:vs}reset(){this.arrivedCount=0,this.active=0,this.element&&(this.element.scrollTop=0)}async insert(e){for(let i of e)i<=this.active&&(this.active+=1);let{element:t}=this;e.length>0&&t&&t.scrollTop>0?(this.host.requestUpdate(),await this.host.updateComplete,t.scrollTop+=e.length*this.rowHeight,this.arrivedCount+=e.length):this.active=Math.max(0,Math.min(this.active,this.host.events.length-1))}fitWidth(){let{element:e,rowHeight:t}=this;if(!e?.clientWidth)return;let i=e.clientWidth<(this.host.hasTenants?ws:bs);if(i===this.isNarrow)return;let{scrollTop:n,clientHeight:r}=e,o=this.active*t-n,a=o>=0&&o<r?this.active:n/t;this.isNarrow=i,this.host.requestUpdate(),this.host.updateComplete.then(()=>e.scrollTop=n+a*(this.rowHeight-t))}window(){if(this.isPrinting)return[0,this.printedCount];let{length:e}=this.host.events,t=this.element?.scrollTop??0,i=this.element?.clientHeight||800,n=Math.max(0,Math.floor(t/this.rowHeight)-hi);return[Math.min(n,e),Math.min(e,Math.ceil((t+i)/this.rowHeight)+hi)]}layOut(){let{events:e,renderRoot:t}=this.host,{pages:i}=e;if(!i)return;this.fitWidth();let[n,r]=this.window();t.querySelector(".before-rows")?.style.setProperty("height",`${n*this.rowHeight}px`),t.querySelector(".after-rows")?.style.setProperty("height",`${(i.length-r)*this.rowHeight}px`),r+As>i.length&&e.canReadMore&&e.more(),i.show(n,r).then(o=>o&&this.host.requestUpdate(),o=>e.onBackground(o))}seen(){let{element:e}=this,{pages:t}=this.host.events;if(!t||!e)return[];let i=Math.floor(e.scrollTop/this.rowHeight),n=Math.ceil(e.clientHeight/this.rowHeight);return Array.from({length:n},(r,o)=>t.at(i+o)).filter(r=>r!==void 0)}template(e){let{formats:t,hasTenants:i,events:n}=this.host,{messages:r}=t,[o,a]=this.window(),l=Array.from({length:a-o},(d,f)=>o+f),u=li(l,d=>d,d=>this.line(d,e.at(d))),p=[r.time,r.action,r.category,r.actor,r.target,...i?[r.tenant]:[]];return c`<div class="list ${this.isNarrow?"narrow":""}">
${this.arrivedCount>0?c`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${r.newEvents(t.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:h}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${r.events} aria-colcount=${p.length}
        aria-rowcount=${e.isComplete?e.length+1:-1} aria-busy=${n.isLoading}
        aria-activedescendant=${this.active>=o&&this.active<a?`row-${this.active}`:h}
        @scroll=${()=>this.onScroll()} @keydown=${d=>this.onKey(d)}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${p.map(d=>c`<div role="columnheader">${d}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${u}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${e.isComplete?r.endOfLog:n.isLoadingMore?r.loadingMore:h}</div>
      </div>
    </div>`}line(e,t){if(!t)return di(e);let{host:i}=this,n={position:e,isActive:e===this.active,isOpen:t.id===i.openedId,isFresh:i.events.freshIds.has(t.id),isRelative:!i.isAbsolute||this.isNarrow,hasTenant:i.hasTenants,open:()=>i.open(e)};return ci(t,n,i.formats,i.checks)}onScroll(){this.element?.scrollTop===0&&(this.arrivedCount=0),this.host.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.element?.scrollTo({top:0}),this.element?.focus(),this.host.requestUpdate()}onKey(e){let t=Math.max(1,Math.floor((this.element?.clientHeight??400)/this.rowHeight)-2),n={ArrowDown:1,ArrowUp:-1,PageDown:t,PageUp:-t,Home:-1/0,End:1/0}[e.key];if(n!==void 0)this.moveBy(n);else if(e.key==="Enter"||e.key===" ")this.host.open(this.active,!0);else if(e.key==="Escape"&&this.host.openedId)this.host.close();else return;e.preventDefault()}moveBy(e){let{element:t}=this,{length:i}=this.host.events;if(!t||i===0)return;this.active=Math.max(0,Math.min(this.active+e,i-1));let n=this.active*this.rowHeight,r=n+this.rowHeight+(this.isNarrow?0:$s);n<t.scrollTop?t.scrollTop=n:r>t.scrollTop+t.clientHeight&&(t.scrollTop=r-t.clientHeight),this.host.requestUpdate(),this.host.openedId&&!this.isSmall&&this.host.open(this.active)}};var ui={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter oder IDs von Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(s,e)=>`Filter entfernen: ${s} ${e}`,filterBy:(s,e)=>`Nur Ereignisse mit ${s} ${e} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(s,e)=>e?`${s} Ereignis`:`${s} Ereignisse`,loadedCount:s=>`${s} Ereignisse geladen`,newEvents:(s,e)=>e?`${s} neues Ereignis`:`${s} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(s,e)=>`${s}: ${e}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",liveOff:"Nicht live",asOf:s=>`Stand ${s}`,relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",download:"Herunterladen",downloadExcel:"Für Excel herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:s=>`Wird heruntergeladen … ${s}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",linkToCopy:"Link zu dieser Ansicht",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",claimedAt:"Übernommen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",onBehalfOf:"Im Namen von",furtherTargets:"Weitere Ziele",outcome:"Ergebnis",outcomes:{success:"Erfolg",failure:"Fehler",denied:"Verweigert"},email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",checkShown:"Gezeigte prüfen",checkingShown:(s,e)=>`Prüfung ${s} von ${e} …`,checkedShown:(s,e,t)=>`Nachgewiesen: ${s}. Nicht nachgewiesen: ${e}. Ohne Nachweis: ${t}.`,position:(s,e)=>`Stelle ${s} von ${e} im Log`,hidden:s=>`Für Sie nicht sichtbar und daher nicht geprüft: ${s}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var Le={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words or ids of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(s,e)=>`Remove filter ${s}: ${e}`,filterBy:(s,e)=>`Show only events with ${s} ${e}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(s,e)=>e?`${s} event`:`${s} events`,loadedCount:s=>`${s} events loaded`,newEvents:(s,e)=>e?`${s} new event`:`${s} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(s,e)=>`${s}: ${e}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",liveOff:"Not live",asOf:s=>`as of ${s}`,relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",download:"Download",downloadExcel:"Download for Excel",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:s=>`Downloading … ${s}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",linkToCopy:"Link to this view",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",claimedAt:"Claimed",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",onBehalfOf:"On behalf of",furtherTargets:"Further targets",outcome:"Outcome",outcomes:{success:"Success",failure:"Failure",denied:"Denied"},email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",checkShown:"Verify shown events",checkingShown:(s,e)=>`Verifying ${s} of ${e} …`,checkedShown:(s,e,t)=>`Verified: ${s}. Not verified: ${e}. Without a proof: ${t}.`,position:(s,e)=>`Position ${s} of ${e} in the log`,hidden:s=>`Not visible to you, and so not checked: ${s}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var Me=new Map([["en",Le],["de",ui]]);function _s(s,e){Me.set(s.toLowerCase(),{...Me.get(s.toLowerCase())??Le,...e})}function Es(){return[...Me.keys()]}function dt(s){for(let e of s)for(let t of[e.toLowerCase(),e.toLowerCase().split("-")[0]??""]){let i=Me.get(t);if(i)return{name:e,messages:i}}return{name:"en",messages:Le}}var pi=200,fi=40;function mi(s,e){return s.occurred_at===e.occurred_at?s.id>e.id:s.occurred_at>e.occurred_at}var Ne=class{constructor(e,t,i){this.api=e;this.filter=t;this.signal=i;this.pages=[];this.next=null;this.isStarted=!1}continueWith(e){this.api=e}get length(){return this.pages.reduce((e,t)=>e+t.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(e){let t=e;for(let i of this.pages){if(t<i.count)return i.events?.[t];t-=i.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let e=this.next,t=await this.read(e);for(;t.events.length===0&&t.has_more;)e=t.cursor,t=await this.read(e);this.isStarted=!0,this.next=t.has_more?t.cursor:null;let i=t.events.at(-1);i&&this.pages.push({cursor:e,count:t.events.length,events:t.events,lastId:i.id})}read(e){let t={...V(this.filter),limit:pi,cursor:e??void 0};return this.api.get("/events",t,this.signal)}async show(e,t){let i=0,n=this.pages.map(l=>{let u=i;return i+=l.count,{page:l,start:u,end:i}}),r=({start:l,end:u})=>l<t&&u>e,o=n.filter(l=>r(l)&&!l.page.events);await Promise.all(o.map(({page:l})=>this.readAgain(l)));let a=this.pages.filter(l=>l.events).length;if(a>fi){let l=(e+t)/2,u=({start:d,end:f})=>Math.abs((d+f)/2-l),p=n.filter(d=>d.page.events&&d.start>0).sort((d,f)=>u(f)-u(d));for(let{page:d}of p.slice(0,a-fi))d.events=void 0}return o.length>0}async readAgain(e){let{events:t}=await this.read(e.cursor),i=t.findIndex(n=>n.id===e.lastId);e.events=i<0?t:t.slice(0,i+1),e.count=e.events.length}async refresh(){let{events:e}=await this.read(null),t=this.pages[0];if(!t?.events)return e.length>0?void 0:[];let i=new Set(t.events.map(l=>l.id)),n=t.events.at(-1),r=this.pages.length===1&&this.isComplete,o=e.filter(l=>!i.has(l.id)&&(r||n&&mi(l,n)));if(o.length===e.length&&e.length>=pi)return;let a=new Set(o.map(l=>l.id));return t.events=[...t.events,...o].sort((l,u)=>mi(l,u)?-1:1),t.count=t.events.length,t.lastId=t.events.at(-1)?.id??"",t.events.flatMap((l,u)=>a.has(l.id)?[u]:[])}};var gi=1e3,Ts=3e4;async function vi(s,e,t,i){let n="latest",r=gi;for(;!i.aborted;){try{for await(let o of Ps(s,e,n,i)){if(r=gi,t.connected(!0),o.event==="end"){let{code:a,message:l}=JSON.parse(o.data);throw new $("expired",l,401,a,"",[],s.connection.credential)}o.id&&(n=o.id),o.event==="audit"&&t.arrived()}}catch(o){if(i.aborted||A(o))return;let a=_(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){t.connected(!1),t.ended(a);return}a.kind==="offline"&&t.lost()}t.connected(!1),await Ss(r*(1+Math.random()),i),r=Math.min(r*2,Ts)}}function Ss(s,e){return new Promise(t=>{let i=setTimeout(t,s);e.addEventListener("abort",()=>(clearTimeout(i),t()),{once:!0})})}async function*Ps(s,e,t,i){let n={...It(e),after:t},o=(await s.fetch("GET","/events/feed",{parameters:n,accept:"text/event-stream",signal:i})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:l,value:u}=await o.read();if(l)return;a+=u;let p=a.split(`

`);a=p.pop()??"";for(let d of p)yield Cs(d)}}finally{await o.cancel().catch(()=>{})}}function Cs(s){let e={event:"",data:"",id:""};for(let t of s.split(`
`)){let i=t.indexOf(": "),n=t.slice(0,i);(n==="event"||n==="data"||n==="id")&&(e[n]=t.slice(i+2))}return e}var yi="UTC";async function ct(s,e,t,i){try{return{...await s.get("/events/summary",{...e,split:"category",time_zone:t},i),zone:t}}catch(n){if(n instanceof $&&n.details.some(({field:o})=>o==="time_zone")&&t!==yi)return ct(s,e,yi,i);throw n}}var Rs=400,Os=1e4,Fs=5e3,Ue=class{constructor(e){this.host=e;this.isLoading=!1;this.isLoadingMore=!1;this.isConnected=!1;this.isOffline=!1;this.isSummaryOld=!1;this.readAt=0;this.countedAt=0;this.isWaiting=!1;this.freshIds=new Set;this.loading=new AbortController;this.following=new AbortController;this.summaryReadAt=0;this.askedAt=-1/0;this.askedFor=""}set(e){Object.assign(this,e),this.host.requestUpdate()}get signal(){return this.loading.signal}get length(){return this.pages?.length??0}stop(){clearTimeout(this.arrivals),this.arrivals=void 0,this.loading.abort(),this.following.abort()}forget(){this.stop(),this.next=void 0,this.isSummaryOld=!1,this.set({pages:void 0,summary:void 0,isOffline:!1}),this.host.eventsStarted()}start(){this.stop(),this.loading=new AbortController,this.set({isWaiting:!1,failure:void 0,isConnected:!1,isLoading:!1}),this.host.token&&this.load(new Ne(this.host.api,this.host.filter,this.signal),this.signal)}async load(e,t){this.next=e,this.set({isLoading:!0}),this.readSummary(t);try{await e.more()}catch(i){if(A(i))return;this.fail(_(i)),this.isOffline&&this.followLive();return}finally{t.aborted||this.set({isLoading:!1})}t.aborted||(this.next=void 0,this.readAt=Date.now(),this.set({pages:e,isOffline:!1}),this.host.eventsStarted(),this.host.eventsLoaded(e.length),this.followLive())}get oldSince(){if(!(!this.isOffline&&!this.failure&&!this.isSummaryOld))return this.summary?this.countedAt:this.readAt}get isLive(){return!this.host.paused&&!this.failure&&!this.isOffline}lost(){this.length>0&&this.set({isOffline:!0,isConnected:!1})}isSameReader(e){let[t,i]=[J(e??""),J(this.host.token)];return!!(t&&i&&t.sub===i.sub&&t.tenant_id===i.tenant_id&&t.tier===i.tier&&this.length>0)}resume(){if(this.next)return this.start();this.set({isWaiting:!1,failure:void 0}),this.pages?.continueWith(this.host.api),this.followLive()}recount(){this.pages&&this.readSummary(this.signal)}async readSummary(e){this.summaryReadAt=Date.now();try{let t=await ct(this.host.api,V(this.host.filter),this.host.formats.zone,e);this.countedAt=Date.now(),this.isSummaryOld=!1,this.set({summary:t})}catch(t){if(A(t))return;["not_found","forbidden"].includes(_(t).kind)&&this.set({summary:void 0}),this.isSummaryOld=this.summary!==void 0,this.host.requestUpdate()}}followLive(){if(this.following.abort(),this.set({isConnected:!1}),this.host.paused||!this.host.token)return;this.following=new AbortController;let e=!0,t={arrived:()=>this.onArrival(),connected:i=>{if(i&&this.next)return this.start();i&&(e||this.isOffline)&&this.onArrival(),i&&this.isOffline&&(this.summaryReadAt=0),e&&=!i,this.set(i?{isConnected:i,isOffline:!1}:{isConnected:i})},lost:()=>this.lost(),ended:i=>{i.kind==="expired"?this.fail(i):this.host.paused=!0}};vi(this.host.api,this.host.filter,t,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.readArrivals()},Rs)}async readArrivals(){let{pages:e,signal:t}=this;if(!(!e||this.host.paused))try{let i=await e.refresh();if(t.aborted)return;if(!i)return this.start();this.readAt=Date.now(),this.failure=void 0;for(let n of i){let r=e.at(n);r&&this.freshIds.add(r.id)}await this.host.eventsArrived(i),Date.now()-this.summaryReadAt>Os&&this.readSummary(t),this.host.requestUpdate()}catch(i){this.onBackground(i)}}async more(){this.set({isLoadingMore:!0});try{await this.pages?.more()}catch(e){this.onBackground(e)}finally{this.set({isLoadingMore:!1})}}get canReadMore(){return!!(this.pages&&!this.pages.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline)}onBackground(e){A(e)||this.fail(_(e))}fail(e){if(e.kind==="offline"&&this.length>0){this.lost();return}e.kind==="expired"&&!e.refuses(this.host.token)||(this.set({failure:e,isOffline:!1}),e.kind==="expired"&&(this.following.abort(),this.set({isConnected:!1}),this.askForToken(e)))}async askForToken(e){let{host:t}=this;if(this.askedFor===t.token)return;this.askedFor=t.token;let i=new CustomEvent("audit-token-expired",{detail:{code:e.code},bubbles:!0,composed:!0,cancelable:!0}),n=!t.dispatchEvent(i),r=Date.now()-this.askedAt<Fs;if(this.set({isWaiting:n||!!t.refreshToken&&!r}),!(!t.refreshToken||r)){this.askedAt=Date.now();try{t.token=await t.refreshToken()}catch{this.set({isWaiting:!1})}}}};var Ls={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},Ie=class{constructor(e){this.host=e;this.outcomes=new Map}clear(){this.outcomes.clear(),this.progress=void 0}note(e,t){this.outcomes.set(e,t),this.host.requestUpdate()}isTampered(e){return this.outcomes.get(e)==="failed"}show(e){this.progress=e,this.host.requestUpdate()}async run(e,t,i,n,r){if(this.progress?.isRunning)return;let{proof:o}=n.messages,a=p=>n.number(p),l={verified:0,consistent:0,failed:0,unavailable:0};for(let[p,d]of e.entries()){this.show({text:o.checkingShown(a(p+1),a(e.length)),isRunning:!0,isBad:l.failed>0});let{outcome:f}=await Te(t,d,i);if(r.aborted)return;l[f]+=1,this.note(d,f)}let u=o.checkedShown(a(l.verified+l.consistent),a(l.failed),a(l.unavailable));this.show({text:u,isRunning:!1,isBad:l.failed>0})}mark(e,{messages:{proof:t}}){let i=this.outcomes.get(e);if(!i)return h;let n={verified:t.verified,consistent:t.consistent,failed:t.failed,unavailable:t.unavailable}[i];return c`<span class="mark ${i}" role="img" aria-label=${n} title=${n}>${Ls[i]}</span>`}message({messages:e}){if(!this.progress)return h;let{text:t,isRunning:i,isBad:n}=this.progress;return c`<div class="notice ${n?"bad":"good"}" role=${n?"alert":"status"}>${t}
${i?h:c`<button @click=${()=>this.show(void 0)}>${e.close}</button>`}</div>`}};function De(s,e,t=h){return c`<div class="state" part="state"><h3>${s}</h3><p>${e}</p>${t}</div>`}function bi(s,e,t,i){let n={expired:e.expired,offline:e.offline,busy:e.busy,forbidden:e.forbidden},r={expired:t?e.expiredWaiting:e.expiredText,offline:e.offlineText};return c`
<h3>${n[s.kind]??e.failed}</h3>
<p>${r[s.kind]??s.message}</p>
${s.details.map(({field:o,message:a})=>c`<p><code>${o}</code> ${a}</p>`)}
    ${s.requestId?c`<p class="mono">${e.requestId}: ${s.requestId}</p>`:h}
    ${s.kind==="expired"?h:c`<button @click=${i}>${e.retry}</button>`}
  `}var wi=x`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden auto;
}
.root { display: flex; flex-direction: column; flex: 1; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages > * { margin: 8px 12px; }
/* The list never vanishes: where its minimum does not fit, the viewer scrolls, or the page around it. */
.main { display: flex; flex: 1 0 auto; min-height: 200px; contain: size; position: relative; }
@media (max-height: 500px) { .main { min-height: min(300px, 100dvh - 40px); } }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) 110px minmax(100px, 1fr) minmax(100px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) 110px minmax(100px, 1fr) minmax(100px, 1fr) minmax(90px, 0.7fr); }
.head { height: 30px; color: var(--muted); font-size: 0.88em; font-weight: 600; background: var(--surface);
border-bottom: 1px solid var(--border); }
.columns { position: sticky; top: 0; z-index: 1; }
.line { height: 34px; border-bottom: 1px solid color-mix(in srgb, var(--border) 55%, transparent); cursor: pointer; }
.line:hover { background: var(--surface); }
.line.active { box-shadow: inset 3px 0 var(--accent); }
[dir="rtl"] .line.active { box-shadow: inset -3px 0 var(--accent); }
.line.open { background: var(--selected); }
.line > div { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .action { display: flex; align-items: center; gap: 8px; font-weight: 500; }
.line.tampered { background: var(--bad-bg); }
.line .mark { flex: none; font-weight: 700; color: var(--muted); } .line .mark.verified { color: var(--good); }
.line .mark.consistent { color: var(--accent); } .line .mark.failed { color: var(--bad); }
.line .action span:not(.dot, .mark) { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state { justify-content: safe center; overflow-y: auto; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
dialog { flex: 0 0 min(46%, 560px); min-width: 0; position: static; width: auto; height: auto; max-width: none; max-height: none; margin: 0; padding: 0;
border: 0; border-inline-start: 1px solid var(--border); background: var(--bg); color: inherit; }
dialog[open] { display: flex; outline: none; }
dialog:modal { position: fixed; inset: 0 0 0 auto; width: min(100%, 700px); height: 100%; border: 0; overscroll-behavior: contain; }
[dir="rtl"] dialog:modal { inset: 0 auto 0 0; }
audit-log-event { flex: 1; }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live.on::before { background: var(--good); }
.old { color: var(--warn); font-weight: 600; }
@media not print { .on-paper { display: none; } }
.toast { position: absolute; inset-block-end: 12px; inset-inline: 0; margin: auto; width: fit-content; z-index: 3; padding: 8px 16px;
border-radius: var(--radius); border: 1px solid transparent; background: var(--text); color: var(--bg); box-shadow: 0 4px 14px rgb(0 0 0 / 0.3); }
.messages input { flex: 1 1 200px; color: var(--text); }
@media (prefers-reduced-motion: no-preference) { .grid[aria-busy="true"] { opacity: 0.6; transition: opacity 0.2s 0.3s; } }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template: "action category when" 22px "who what what" 20px / minmax(0, 1fr) auto auto; gap: 0 10px; height: 56px; align-content: center; }
.narrow .action { grid-area: action; } .narrow .when { grid-area: when; } .narrow .category { grid-area: category; font-size: 0.9em; }
.narrow :is(.when, .category, .what) { text-align: end; }
.narrow .who { grid-area: who; } .narrow .what { grid-area: what; max-width: 44cqi; justify-self: end; } .narrow .tenant { display: none; }
.list { container-type: inline-size; }
@container (min-width: 480px) {
.tenants .narrow .line { grid-template-areas: "action category when" "who what tenant"; }
.tenants .narrow .tenant { display: block; grid-area: tenant; max-width: 24cqi; text-align: end; }
.tenants .narrow .what { max-width: 32cqi; }
}
.small .tools { margin-inline-start: 0; }
.small .menu > div { inset-inline: 0 auto; }
@media (max-height: 500px) { .top { padding-block: 6px; } .chart { padding-top: 4px; } footer { padding-block: 2px; } }
@media (forced-colors: active) {
.line.open { outline: 2px solid Highlight; outline-offset: -2px; }
.line.active:not(.open) { outline: 1px dashed; outline-offset: -2px; }
.live::before { border: 1px solid; forced-color-adjust: none; } .live.on::before { background: currentColor; }
}
@media print {
:host { height: auto; min-height: 0; overflow: visible; }
.main { display: block; contain: none; min-height: 0; }
.grid { overflow: visible; }
.before-rows, .after-rows, .end, .arrived, .top, .chart, footer .tools, .toast, .list:has(+ dialog) { display: none !important; }
.line { break-inside: avoid; } .line.active { box-shadow: none; }
dialog { border: 0; }
dialog:modal { position: static; width: auto; height: auto; }
}
`;var Ms=15e3,ae=class extends y{constructor(){super();this.api=new oe({baseUrl:"",credential:""});this.formats=new re("en",dt(["en"]).messages,!1);this.checks=new Ie(this);this.events=new Ue(this);this.grid=new Fe(this);this.downloads=new Ce(this);this.copyLink=new Pe(this);this.onHash=()=>{!this.fragment||F(ne(location.hash))===F(this.view)||this.applyView(ne(location.hash))};this.onOnline=()=>{(this.events.isOffline||this.events.failure?.kind==="offline")&&this.events.start()};this.onOffline=()=>this.events.lost();this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isAbsolute=!0,this.isUtc=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},announcement:{state:!0}}}static{this.styles=[E,Mt,wi]}connectedCallback(){super.connectedCallback(),this.grid.connect(),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Ms),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),addEventListener("offline",this.onOffline),this.fragment&&this.applyView(ne(location.hash)),this.hasUpdated&&this.events.start()}disconnectedCallback(){super.disconnectedCallback(),this.grid.disconnect(),clearInterval(this.clock),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),removeEventListener("offline",this.onOffline),this.events.stop(),this.downloads.abort()}get link(){return`${location.href.split("#")[0]}#${F(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted,isUtc:this.isUtc}}applyView(t){F({filter:t.filter})!==F({filter:this.filter})&&(this.filter=t.filter),this.wanted=t.event,this.isUtc=t.isUtc??!1,this.opened=void 0}showView(){if(this.fragment&&this.link!==location.href){let t=Dt(ne(location.hash),this.view);history[t?"replaceState":"pushState"](history.state,"",this.link)}this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:F(this.view)},bubbles:!0,composed:!0}))}willUpdate(t){if(t.has("lang")||t.has("isUtc")||!this.hasUpdated){let o=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:a,messages:l}=dt([this.lang,o,...navigator.languages].filter(p=>p)),u=navigator.languages.find(p=>p.split("-")[0]===a.split("-")[0]);this.formats=new re(a.includes("-")?a:u??a,l,this.isUtc)}let n=["baseUrl","token","projectId","environment"].some(o=>t.has(o));n&&(this.api=new oe({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment}));let{events:r}=this;t.has("token")&&r.isSameReader(t.get("token"))?r.resume():n||t.has("filter")?(n&&(this.opened=void 0,r.forget()),r.start()):t.has("isUtc")&&r.recount(),t.has("wanted")&&this.wanted&&r.pages&&!r.isLoading&&this.openById(this.wanted),t.has("paused")&&!n&&r.pages&&r.followLive()}updated(t){(t.has("filter")||t.has("opened")||t.has("isUtc"))&&this.showView(),this.placeDetails(),this.grid.layOut()}placeDetails(){let t=this.renderRoot.querySelector("dialog");!t||t.open&&t.matches(":modal")===this.grid.isSmall||(t.close(),this.grid.isSmall?t.showModal():t.open=!0)}async reload(){await this.updateComplete,this.events.start()}eventsStarted(){this.grid.reset(),this.checks.clear()}eventsLoaded(t){this.events.failure||(this.announcement=this.formats.messages.loadedCount(this.formats.number(t))),this.wanted&&this.openById(this.wanted)}eventsArrived(t){return this.grid.insert(t)}get openedId(){return this.opened?.id}get hasTenants(){return!Ht(this.token)}verifyShown(){this.checks.run(this.grid.seen(),this.api,this.pinnedKey,this.formats,this.events.signal)}onProof(t){this.opened&&this.checks.note(this.opened,t.detail.outcome)}render(){let{messages:t}=this.formats,{pages:i}=this.events;return c`
<div class="root ${this.grid.isSmall?"small":""} ${this.hasTenants?"tenants":""}" dir=${t.direction} lang=${this.formats.language}>
${this.token?this.head():h}
<div class="messages">${this.messages()}</div>
<div class="main">
${i&&i.length>0?this.grid.template(i):this.emptyState()}
${this.opened?c`<dialog aria-label=${t.details} @cancel=${this.onCancel} @keydown=${this.onDetailsKey}><audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${n=>this.step(n.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof}
              ></audit-log-event></dialog>`:h}
          ${this.copyLink.toast()}
        </div>
        ${this.token?this.foot():h}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}head(){let{messages:t}=this.formats,{summary:i,isConnected:n,isLive:r}=this.events,o=this.paused||r&&n?t.live:r?t.liveConnecting:t.liveOff;return c`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${i?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${a=>this.filter=a.detail}
>
<div class="tools">
<button
class="live ${r&&n?"on":""}" aria-pressed=${r} title=${r?t.livePause:t.liveStart}
@click=${()=>this.switchLive()}
>${o}</button>
${this.downloads.menu(this.api,this.filter,this.formats)}
</div>
</audit-log-filters>
</div>
${i&&i.buckets.length>0?c`<div class="chart">
            <audit-log-histogram
              .summary=${i} .formats=${this.formats} .asOf=${this.asOf} ?narrow=${this.grid.isSmall}
              .isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
              @zoom=${a=>this.filter={...this.filter,start_date:a.detail.start,end_date:a.detail.end}}
              @zoom-out=${()=>this.zoomOut()}
            ></audit-log-histogram>
          </div>`:h}
    `}switchLive(){let{isLive:t}=this.events;!t&&!this.paused?this.events.start():this.paused=t}get asOf(){let{oldSince:t,length:i}=this.events;return t&&i>0?this.formats.messages.asOf(this.formats.absolute(new Date(t).toISOString())):void 0}zoomOut(){let{start_date:t,end_date:i,...n}=this.filter;this.filter=n}messages(){let{messages:t}=this.formats,{failure:i,isOffline:n,length:r}=this.events,o=c`<div class="notice" role="status"><b>${t.offline}</b><span>${t.offlineText}</span>
<button @click=${()=>this.events.start()}>${t.retry}</button></div>`;return c`${n?o:h}
${i&&r>0?c`<div class="notice bad" role="alert">${this.failureText(i)}</div>`:h}
      ${this.copyLink.message()} ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`}emptyState(){let{messages:t}=this.formats,{failure:i,isLoading:n,pages:r}=this.events;return this.token?i?c`<div class="state" part="state" role="alert">${this.failureText(i)}</div>`:n||!r?c`<div class="state" part="state" role="status"><p class="spinner">${t.loading}</p></div>`:Ut(this.filter)?De(t.empty,t.emptyText):De(t.emptyFilter,t.emptyFilterText,c`<button @click=${()=>this.filter={}}>${t.clearFilters}</button>`):De(t.noToken,t.noTokenText)}failureText(t){return bi(t,this.formats.messages,this.events.isWaiting,()=>this.events.start())}foot(){let{messages:t}=this.formats,{pages:i,summary:n,length:r}=this.events,o=n?.total,a=o??r,l=o===void 0&&!i?.isComplete?t.loadedCount(this.formats.number(r)):t.eventCount(this.formats.number(a),a===1),{printedCount:u}=this.grid;return c`<footer part="footer">
<span>${r>0||o!==void 0?l:h}${this.asOf?c` · <b class="old">${this.asOf}</b>`:h}</span>
      ${u<a?c`<span class="on-paper">${t.loadedCount(this.formats.number(u))}</span>`:h}
      <div class="tools">
        <button class="plain" ?disabled=${r===0||this.checks.progress?.isRunning} @click=${()=>this.verifyShown()}>${t.proof.checkShown}</button>
        ${this.fragment?c`<button class="plain" @click=${()=>this.copyLink.copy()}>${t.copyLink}</button>`:h}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?t.relativeTimes:t.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${t.utc}</button>
      </div>
    </footer>`}open(t,i=!1){let n=this.events.pages?.at(t);n&&(this.grid.active=t,this.wanted=void 0,this.opened=n,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:n.id},bubbles:!0,composed:!0})),(i||this.grid.isSmall)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let t=this.renderRoot.querySelector("audit-log-event");await t?.updateComplete,t?.focus()}async openById(t){try{let{event:i}=await this.api.get(`/events/${t}`,{},this.events.signal);this.wanted=void 0,this.opened=i}catch(i){if(A(i))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(t){this.grid.moveBy(t),this.open(this.grid.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid.element?.focus())}onDetailsKey(t){t.key==="Escape"&&this.close()}onCancel(t){t.preventDefault(),this.close()}onFilterBy(t){this.grid.isSmall&&(this.opened=void 0),this.filter={...this.filter,[t.detail.field]:t.detail.value}}};function xi(){let s=[["audit-log-proof",Se],["audit-log-event",we],["audit-log-filters",$e],["audit-log-histogram",ke],["audit-log-viewer",ae]];for(let[e,t]of s)customElements.get(e)||customElements.define(e,t)}xi();export{ae as AuditLogViewer,Es as languageNames,_s as registerLanguage};
/*! Bundled license information:

@lit/reactive-element/css-tag.js:
  (**
   * @license
   * Copyright 2019 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/reactive-element.js:
lit-html/lit-html.js:
lit-element/lit-element.js:
lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/is-server.js:
  (**
   * @license
   * Copyright 2022 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
