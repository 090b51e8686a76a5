var fe=globalThis,ge=fe.ShadowRoot&&(fe.ShadyCSS===void 0||fe.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,Xe=Symbol(),_t=new WeakMap,ne=class{constructor(i,e,t){if(this._$cssResult$=!0,t!==Xe)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=i,this.t=e}get styleSheet(){let i=this.o,e=this.t;if(ge&&i===void 0){let t=e!==void 0&&e.length===1;t&&(i=_t.get(e)),i===void 0&&((this.o=i=new CSSStyleSheet).replaceSync(this.cssText),t&&_t.set(e,i))}return i}toString(){return this.cssText}},Et=r=>new ne(typeof r=="string"?r:r+"",void 0,Xe),b=(r,...i)=>{let e=r.length===1?r[0]:i.reduce((t,s,n)=>t+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(s)+r[n+1],r[0]);return new ne(e,r,Xe)},At=(r,i)=>{if(ge)r.adoptedStyleSheets=i.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of i){let t=document.createElement("style"),s=fe.litNonce;s!==void 0&&t.setAttribute("nonce",s),t.textContent=e.cssText,r.appendChild(t)}},Ye=ge?r=>r:r=>r instanceof CSSStyleSheet?(i=>{let e="";for(let t of i.cssRules)e+=t.cssText;return Et(e)})(r):r;var{is:Ci,defineProperty:Oi,getOwnPropertyDescriptor:Mi,getOwnPropertyNames:Fi,getOwnPropertySymbols:Di,getPrototypeOf:Ni}=Object,ve=globalThis,Tt=ve.trustedTypes,Li=Tt?Tt.emptyScript:"",ji=ve.reactiveElementPolyfillSupport,oe=(r,i)=>r,Qe={toAttribute(r,i){switch(i){case Boolean:r=r?Li:null;break;case Object:case Array:r=r==null?r:JSON.stringify(r)}return r},fromAttribute(r,i){let e=r;switch(i){case Boolean:e=r!==null;break;case Number:e=r===null?null:Number(r);break;case Object:case Array:try{e=JSON.parse(r)}catch{e=null}}return e}},Pt=(r,i)=>!Ci(r,i),St={attribute:!0,type:String,converter:Qe,reflect:!1,useDefault:!1,hasChanged:Pt};Symbol.metadata??=Symbol("metadata"),ve.litPropertyMetadata??=new WeakMap;var C=class extends HTMLElement{static addInitializer(i){this._$Ei(),(this.l??=[]).push(i)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(i,e=St){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(i)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(i,e),!e.noAccessor){let t=Symbol(),s=this.getPropertyDescriptor(i,t,e);s!==void 0&&Oi(this.prototype,i,s)}}static getPropertyDescriptor(i,e,t){let{get:s,set:n}=Mi(this.prototype,i)??{get(){return this[e]},set(o){this[e]=o}};return{get:s,set(o){let a=s?.call(this);n?.call(this,o),this.requestUpdate(i,a,t)},configurable:!0,enumerable:!0}}static getPropertyOptions(i){return this.elementProperties.get(i)??St}static _$Ei(){if(this.hasOwnProperty(oe("elementProperties")))return;let i=Ni(this);i.finalize(),i.l!==void 0&&(this.l=[...i.l]),this.elementProperties=new Map(i.elementProperties)}static finalize(){if(this.hasOwnProperty(oe("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(oe("properties"))){let e=this.properties,t=[...Fi(e),...Di(e)];for(let s of t)this.createProperty(s,e[s])}let i=this[Symbol.metadata];if(i!==null){let e=litPropertyMetadata.get(i);if(e!==void 0)for(let[t,s]of e)this.elementProperties.set(t,s)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let s=this._$Eu(e,t);s!==void 0&&this._$Eh.set(s,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(i){let e=[];if(Array.isArray(i)){let t=new Set(i.flat(1/0).reverse());for(let s of t)e.unshift(Ye(s))}else i!==void 0&&e.push(Ye(i));return e}static _$Eu(i,e){let t=e.attribute;return t===!1?void 0:typeof t=="string"?t:typeof i=="string"?i.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(i=>this.enableUpdating=i),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(i=>i(this))}addController(i){(this._$EO??=new Set).add(i),this.renderRoot!==void 0&&this.isConnected&&i.hostConnected?.()}removeController(i){this._$EO?.delete(i)}_$E_(){let i=new Map,e=this.constructor.elementProperties;for(let t of e.keys())this.hasOwnProperty(t)&&(i.set(t,this[t]),delete this[t]);i.size>0&&(this._$Ep=i)}createRenderRoot(){let i=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return At(i,this.constructor.elementStyles),i}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(i=>i.hostConnected?.())}enableUpdating(i){}disconnectedCallback(){this._$EO?.forEach(i=>i.hostDisconnected?.())}attributeChangedCallback(i,e,t){this._$AK(i,t)}_$ET(i,e){let t=this.constructor.elementProperties.get(i),s=this.constructor._$Eu(i,t);if(s!==void 0&&t.reflect===!0){let n=(t.converter?.toAttribute!==void 0?t.converter:Qe).toAttribute(e,t.type);this._$Em=i,n==null?this.removeAttribute(s):this.setAttribute(s,n),this._$Em=null}}_$AK(i,e){let t=this.constructor,s=t._$Eh.get(i);if(s!==void 0&&this._$Em!==s){let n=t.getPropertyOptions(s),o=typeof n.converter=="function"?{fromAttribute:n.converter}:n.converter?.fromAttribute!==void 0?n.converter:Qe;this._$Em=s;let a=o.fromAttribute(e,n.type);this[s]=a??this._$Ej?.get(s)??a,this._$Em=null}}requestUpdate(i,e,t,s=!1,n){if(i!==void 0){let o=this.constructor;if(s===!1&&(n=this[i]),t??=o.getPropertyOptions(i),!((t.hasChanged??Pt)(n,e)||t.useDefault&&t.reflect&&n===this._$Ej?.get(i)&&!this.hasAttribute(o._$Eu(i,t))))return;this.C(i,e,t)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(i,e,{useDefault:t,reflect:s,wrapped:n},o){t&&!(this._$Ej??=new Map).has(i)&&(this._$Ej.set(i,o??e??this[i]),n!==!0||o!==void 0)||(this._$AL.has(i)||(this.hasUpdated||t||(e=void 0),this._$AL.set(i,e)),s===!0&&this._$Em!==i&&(this._$Eq??=new Set).add(i))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let i=this.scheduleUpdate();return i!=null&&await i,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[s,n]of this._$Ep)this[s]=n;this._$Ep=void 0}let t=this.constructor.elementProperties;if(t.size>0)for(let[s,n]of t){let{wrapped:o}=n,a=this[s];o!==!0||this._$AL.has(s)||a===void 0||this.C(s,void 0,n,a)}}let i=!1,e=this._$AL;try{i=this.shouldUpdate(e),i?(this.willUpdate(e),this._$EO?.forEach(t=>t.hostUpdate?.()),this.update(e)):this._$EM()}catch(t){throw i=!1,this._$EM(),t}i&&this._$AE(e)}willUpdate(i){}_$AE(i){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(i)),this.updated(i)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(i){return!0}update(i){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(i){}firstUpdated(i){}};C.elementStyles=[],C.shadowRootOptions={mode:"open"},C[oe("elementProperties")]=new Map,C[oe("finalized")]=new Map,ji?.({ReactiveElement:C}),(ve.reactiveElementVersions??=[]).push("2.1.2");var tt=globalThis,Rt=r=>r,ye=tt.trustedTypes,Ct=ye?ye.createPolicy("lit-html",{createHTML:r=>r}):void 0,it="$lit$",O=`lit$${Math.random().toFixed(9).slice(2)}$`,st="?"+O,Ii=`<${st}>`,B=document,le=()=>B.createComment(""),de=r=>r===null||typeof r!="object"&&typeof r!="function",rt=Array.isArray,Lt=r=>rt(r)||typeof r?.[Symbol.iterator]=="function",et=`[ 	
\f\r]`,ae=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Ot=/-->/g,Mt=/>/g,H=RegExp(`>|${et}(?:([^\\s"'>=/]+)(${et}*=${et}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Ft=/'/g,Dt=/"/g,jt=/^(?:script|style|textarea|title)$/i,nt=r=>(i,...e)=>({_$litType$:r,strings:i,values:e}),l=nt(1),_e=nt(2),Zs=nt(3),M=Symbol.for("lit-noChange"),h=Symbol.for("lit-nothing"),Nt=new WeakMap,z=B.createTreeWalker(B,129);function It(r,i){if(!rt(r)||!r.hasOwnProperty("raw"))throw Error("invalid template strings array");return Ct!==void 0?Ct.createHTML(i):i}var Ut=(r,i)=>{let e=r.length-1,t=[],s,n=i===2?"<svg>":i===3?"<math>":"",o=ae;for(let a=0;a<e;a++){let d=r[a],c,u,p=-1,g=0;for(;g<d.length&&(o.lastIndex=g,u=o.exec(d),u!==null);)g=o.lastIndex,o===ae?u[1]==="!--"?o=Ot:u[1]!==void 0?o=Mt:u[2]!==void 0?(jt.test(u[2])&&(s=RegExp("</"+u[2],"g")),o=H):u[3]!==void 0&&(o=H):o===H?u[0]===">"?(o=s??ae,p=-1):u[1]===void 0?p=-2:(p=o.lastIndex-u[2].length,c=u[1],o=u[3]===void 0?H:u[3]==='"'?Dt:Ft):o===Dt||o===Ft?o=H:o===Ot||o===Mt?o=ae:(o=H,s=void 0);let m=o===H&&r[a+1].startsWith("/>")?" ":"";n+=o===ae?d+Ii:p>=0?(t.push(c),d.slice(0,p)+it+d.slice(p)+O+m):d+O+(p===-2?a:m)}return[It(r,n+(r[e]||"<?>")+(i===2?"</svg>":i===3?"</math>":"")),t]},ce=class r{constructor({strings:i,_$litType$:e},t){let s;this.parts=[];let n=0,o=0,a=i.length-1,d=this.parts,[c,u]=Ut(i,e);if(this.el=r.createElement(c,t),z.currentNode=this.el.content,e===2||e===3){let p=this.el.content.firstChild;p.replaceWith(...p.childNodes)}for(;(s=z.nextNode())!==null&&d.length<a;){if(s.nodeType===1){if(s.hasAttributes())for(let p of s.getAttributeNames())if(p.endsWith(it)){let g=u[o++],m=s.getAttribute(p).split(O),y=/([.?@])?(.*)/.exec(g);d.push({type:1,index:n,name:y[2],strings:m,ctor:y[1]==="."?we:y[1]==="?"?$e:y[1]==="@"?xe:J}),s.removeAttribute(p)}else p.startsWith(O)&&(d.push({type:6,index:n}),s.removeAttribute(p));if(jt.test(s.tagName)){let p=s.textContent.split(O),g=p.length-1;if(g>0){s.textContent=ye?ye.emptyScript:"";for(let m=0;m<g;m++)s.append(p[m],le()),z.nextNode(),d.push({type:2,index:++n});s.append(p[g],le())}}}else if(s.nodeType===8)if(s.data===st)d.push({type:2,index:n});else{let p=-1;for(;(p=s.data.indexOf(O,p+1))!==-1;)d.push({type:7,index:n}),p+=O.length-1}n++}}static createElement(i,e){let t=B.createElement("template");return t.innerHTML=i,t}};function V(r,i,e=r,t){if(i===M)return i;let s=t!==void 0?e._$Co?.[t]:e._$Cl,n=de(i)?void 0:i._$litDirective$;return s?.constructor!==n&&(s?._$AO?.(!1),n===void 0?s=void 0:(s=new n(r),s._$AT(r,e,t)),t!==void 0?(e._$Co??=[])[t]=s:e._$Cl=s),s!==void 0&&(i=V(r,s._$AS(r,i.values),s,t)),i}var be=class{constructor(i,e){this._$AV=[],this._$AN=void 0,this._$AD=i,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(i){let{el:{content:e},parts:t}=this._$AD,s=(i?.creationScope??B).importNode(e,!0);z.currentNode=s;let n=z.nextNode(),o=0,a=0,d=t[0];for(;d!==void 0;){if(o===d.index){let c;d.type===2?c=new G(n,n.nextSibling,this,i):d.type===1?c=new d.ctor(n,d.name,d.strings,this,i):d.type===6&&(c=new ke(n,this,i)),this._$AV.push(c),d=t[++a]}o!==d?.index&&(n=z.nextNode(),o++)}return z.currentNode=B,s}p(i){let e=0;for(let t of this._$AV)t!==void 0&&(t.strings!==void 0?(t._$AI(i,t,e),e+=t.strings.length-2):t._$AI(i[e])),e++}},G=class r{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(i,e,t,s){this.type=2,this._$AH=h,this._$AN=void 0,this._$AA=i,this._$AB=e,this._$AM=t,this.options=s,this._$Cv=s?.isConnected??!0}get parentNode(){let i=this._$AA.parentNode,e=this._$AM;return e!==void 0&&i?.nodeType===11&&(i=e.parentNode),i}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(i,e=this){i=V(this,i,e),de(i)?i===h||i==null||i===""?(this._$AH!==h&&this._$AR(),this._$AH=h):i!==this._$AH&&i!==M&&this._(i):i._$litType$!==void 0?this.$(i):i.nodeType!==void 0?this.T(i):Lt(i)?this.k(i):this._(i)}O(i){return this._$AA.parentNode.insertBefore(i,this._$AB)}T(i){this._$AH!==i&&(this._$AR(),this._$AH=this.O(i))}_(i){this._$AH!==h&&de(this._$AH)?this._$AA.nextSibling.data=i:this.T(B.createTextNode(i)),this._$AH=i}$(i){let{values:e,_$litType$:t}=i,s=typeof t=="number"?this._$AC(i):(t.el===void 0&&(t.el=ce.createElement(It(t.h,t.h[0]),this.options)),t);if(this._$AH?._$AD===s)this._$AH.p(e);else{let n=new be(s,this),o=n.u(this.options);n.p(e),this.T(o),this._$AH=n}}_$AC(i){let e=Nt.get(i.strings);return e===void 0&&Nt.set(i.strings,e=new ce(i)),e}k(i){rt(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,t,s=0;for(let n of i)s===e.length?e.push(t=new r(this.O(le()),this.O(le()),this,this.options)):t=e[s],t._$AI(n),s++;s<e.length&&(this._$AR(t&&t._$AB.nextSibling,s),e.length=s)}_$AR(i=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);i!==this._$AB;){let t=Rt(i).nextSibling;Rt(i).remove(),i=t}}setConnected(i){this._$AM===void 0&&(this._$Cv=i,this._$AP?.(i))}},J=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(i,e,t,s,n){this.type=1,this._$AH=h,this._$AN=void 0,this.element=i,this.name=e,this._$AM=s,this.options=n,t.length>2||t[0]!==""||t[1]!==""?(this._$AH=Array(t.length-1).fill(new String),this.strings=t):this._$AH=h}_$AI(i,e=this,t,s){let n=this.strings,o=!1;if(n===void 0)i=V(this,i,e,0),o=!de(i)||i!==this._$AH&&i!==M,o&&(this._$AH=i);else{let a=i,d,c;for(i=n[0],d=0;d<n.length-1;d++)c=V(this,a[t+d],e,d),c===M&&(c=this._$AH[d]),o||=!de(c)||c!==this._$AH[d],c===h?i=h:i!==h&&(i+=(c??"")+n[d+1]),this._$AH[d]=c}o&&!s&&this.j(i)}j(i){i===h?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,i??"")}},we=class extends J{constructor(){super(...arguments),this.type=3}j(i){this.element[this.name]=i===h?void 0:i}},$e=class extends J{constructor(){super(...arguments),this.type=4}j(i){this.element.toggleAttribute(this.name,!!i&&i!==h)}},xe=class extends J{constructor(i,e,t,s,n){super(i,e,t,s,n),this.type=5}_$AI(i,e=this){if((i=V(this,i,e,0)??h)===M)return;let t=this._$AH,s=i===h&&t!==h||i.capture!==t.capture||i.once!==t.once||i.passive!==t.passive,n=i!==h&&(t===h||s);s&&this.element.removeEventListener(this.name,this,t),n&&this.element.addEventListener(this.name,this,i),this._$AH=i}handleEvent(i){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,i):this._$AH.handleEvent(i)}},ke=class{constructor(i,e,t){this.element=i,this.type=6,this._$AN=void 0,this._$AM=e,this.options=t}get _$AU(){return this._$AM._$AU}_$AI(i){V(this,i)}},Ht={M:it,P:O,A:st,C:1,L:Ut,R:be,D:Lt,V,I:G,H:J,N:$e,U:xe,B:we,F:ke},Ui=tt.litHtmlPolyfillSupport;Ui?.(ce,G),(tt.litHtmlVersions??=[]).push("3.3.3");var zt=(r,i,e)=>{let t=e?.renderBefore??i,s=t._$litPart$;if(s===void 0){let n=e?.renderBefore??null;t._$litPart$=s=new G(i.insertBefore(le(),n),n,void 0,e??{})}return s._$AI(r),s};var ot=globalThis,w=class extends C{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let i=super.createRenderRoot();return this.renderOptions.renderBefore??=i.firstChild,i}update(i){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(i),this._$Do=zt(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return M}};w._$litElement$=!0,w.finalized=!0,ot.litElementHydrateSupport?.({LitElement:w});var Hi=ot.litElementPolyfillSupport;Hi?.({LitElement:w});(ot.litElementVersions??=[]).push("4.2.2");var zi=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,Bi=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,at=/[ \t\n\r]*/y;function Bt(r){return new lt(r).document()}var lt=class{constructor(i){this.text=i}text;#e=0;document(){let i=this.#n(0);return this.#s(at),this.#e!==this.text.length&&this.#t(),i}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#s(i){i.lastIndex=this.#e;let e=i.exec(this.text)?.[0];return e!==void 0&&(this.#e+=e.length),e}#i(){return this.#s(at),this.text[this.#e]}#r(i){this.#i()!==i&&this.#t(),this.#e+=1}#n(i){switch(i>200&&this.#t(),this.#i()){case"{":return this.#d(i);case"[":return this.#l(i);case'"':return this.#o();default:return this.#a()}}#o(){let i=this.#s(Bi);return i===void 0?this.#t():JSON.parse(i)}#a(){for(let[t,s]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(t,this.#e))return this.#e+=t.length,s;let i=this.#s(zi);if(i===void 0)return this.#t();let e=Number(i);return/^-?[0-9]+$/.test(i)&&!Number.isSafeInteger(e)?BigInt(i):e}#l(i){let e=[];if(this.#r("["),this.#i()==="]")return this.#e+=1,e;for(;e.push(this.#n(i+1)),this.#i()===",";)this.#e+=1;return this.#r("]"),e}#d(i){let e={};if(this.#r("{"),this.#i()==="}")return this.#e+=1,e;for(;;){this.#s(at);let t=this.#o();this.#r(":");let s=this.#n(i+1);if(Object.hasOwn(e,t)&&this.#t(),Object.defineProperty(e,t,{value:s,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#r("}"),e}};function Ee(r){if(typeof r=="bigint")return r.toString();if(Array.isArray(r))return`[${r.map(Ee).join(",")}]`;if(typeof r=="object"&&r!==null){let i=r;return`{${Object.keys(i).filter(t=>i[t]!==void 0).sort().map(t=>`${JSON.stringify(t)}:${Ee(i[t])}`).join(",")}}`}return JSON.stringify(r)??"null"}function Vt(r){return/\d{16}/.test(r)?Bt(r):JSON.parse(r)}function F(r,i=""){if(r===void 0)return"";if(typeof r=="bigint")return r.toString();if(r===null||typeof r!="object")return JSON.stringify(r);let e=`${i}  `,t=Array.isArray(r),s=t?r.map(a=>F(a,e)):Object.entries(r).map(([a,d])=>`${JSON.stringify(a)}: ${F(d,e)}`),[n,o]=t?["[","]"]:["{","}"];return s.length===0?n+o:`${n}
${e}${s.join(`,
${e}`)}
${i}${o}`}function dt(r){return typeof r=="string"?r:F(r).replace(/\n\s*/g," ")}var S=class extends Error{constructor(e,t,s=0,n="",o="",a=[]){super(t);this.kind=e;this.status=s;this.code=n;this.requestId=o;this.details=a}},Vi={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},D=class{constructor(i){this.connection=i}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(i,e={},t){return this.json(await this.fetch("GET",i,{parameters:e,signal:t}))}async text(i,e={}){return(await this.fetch("GET",i,{parameters:e})).text().catch(ct)}async send(i,e,t,s={}){return this.json(await this.fetch(i,e,{parameters:s,body:t}))}async json(i){let e=await i.text().catch(ct);try{return Vt(e)}catch{throw new S("server","the response is not JSON",i.status)}}async fetch(i,e,t={}){let{credential:s,baseUrl:n,projectId:o,environment:a}=this.connection,d=new URLSearchParams;for(let[y,E]of Object.entries(t.parameters??{}))E!==void 0&&E!==""&&d.set(y,String(E));this.isMaster&&a==="test"&&/^\/(events|alerts(\?|$|\/alt_)|log)/.test(e)&&d.set("environment","test");let c={};s&&(c.Authorization=`Bearer ${s}`),this.isMaster&&o&&!e.startsWith("/projects")&&(c["X-Project-Id"]=o),t.accept&&(c.Accept=t.accept);let u={method:i,headers:c,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};t.signal&&(u.signal=t.signal),t.body!==void 0&&(c["Content-Type"]="application/json",u.body=JSON.stringify(t.body));let p=d.toString(),g=`${n.replace(/\/+$/,"")}/api/v1${e}${p&&`?${p}`}`,m=await fetch(g,u).catch(ct);if(!m.ok)throw await Ji(m);return m}};function ct(r){throw r instanceof DOMException&&r.name==="AbortError"?r:new S("offline","no response from the server")}async function Ji(r){let i=await r.json().catch(()=>({})),e=Vi[r.status]??"server",t=i.error?.message??`status ${r.status}`;return new S(e,t,r.status,i.error?.code,i.request_id,i.error?.details)}function A(r){return r instanceof DOMException&&r.name==="AbortError"}function x(r){return r instanceof S?r:new S("server",r instanceof Error?r.message:String(r))}var _=b`
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
`,Ae=b`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
`;var Te=class extends w{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[_,b`
:host { display: flex; flex-direction: column; min-height: 0; background: var(--bg); }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; overflow-wrap: anywhere; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(92px, auto) 1fr; gap: 3px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; overflow-wrap: anywhere; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); overflow-wrap: anywhere; }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; }
.notice { margin-top: 12px; }
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(i){i.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:i,formats:e}=this,{messages:t}=e,{actor:s,target:n,context:o}=i;return l`
<header part="details-header">
<div>
<h3 tabindex="-1">${i.action??i.id}</h3>
<span class="muted">${this.sentence()}</span>
</div>
<div class="buttons">
<button class="plain icon" aria-label=${t.previousEvent} title=${t.previousEvent} @click=${()=>this.step(-1)}>↑</button>
<button class="plain icon" aria-label=${t.nextEvent} title=${t.nextEvent} @click=${()=>this.step(1)}>↓</button>
<button class="plain icon" aria-label=${t.close} title=${t.close} @click=${()=>this.dispatchEvent(new CustomEvent("close"))}>✕</button>
</div>
</header>
<div class="body" tabindex="0" role="group" aria-label=${t.details}>
<section aria-label=${t.proof.title}>
<audit-log-proof .event=${i} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${e} exportparts="proof"></audit-log-proof>
</section>
${i.redacted?l`<p class="notice">${t.redacted}</p>`:h}
        <section>
          <dl>
            ${this.row(t.occurredAt,e.full(i.occurred_at))} ${this.row(t.receivedAt,e.full(i.received_at))}
            ${this.row(t.category,i.category&&(t.categories[i.category]??i.category),"category",i.category)}
            ${this.row(t.action,i.action,"action")} ${this.row(t.tenant,i.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(i.changes)}
        ${this.section(t.actor,[this.row(t.name,s?.name),this.row(t.id,s?.id,"actor_id"),this.row(t.email,s?.email),this.row(t.type,s?.type&&(t.actorTypes[s.type]??s.type),"actor_type",s?.type)],s)}
        ${this.section(t.target,[this.row(t.name,n?.name),this.row(t.id,n?.id,"target_id"),this.row(t.type,n?.type,"target_type")],n)}
        ${this.section(t.context,[this.row(t.ipAddress,o?.ip_address),this.row(t.location,o?.location),this.row(t.userAgent,o?.user_agent),this.row(t.session,o?.session_id)],o)}
        ${this.section(t.metadata,qi(i.metadata).map(([a,d])=>this.row(a,d)),i.metadata)}
        <section>
          <dl>${this.row(t.id,i.id)} ${this.row(t.contentHash,i.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?t.hideJson:t.rawJson}</button>
          <button @click=${()=>this.copy(F(i))}>${this.copied?t.copied:t.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?l`<pre tabindex="0" aria-label=${t.rawJson}>${F(i)}</pre>`:h}
        </section>
      </div>
    `}sentence(){let{actor:i,target:e,occurred_at:t}=this.event,s=i?.name??i?.id,n=e?.name??e?.id,o=this.formats.relative(t,Date.now());return[n?`${s??"?"} → ${n}`:s,o].filter(Boolean).join(" · ")}step(i){this.dispatchEvent(new CustomEvent("step",{detail:i}))}section(i,e,t){return t&&Object.keys(t).length>0?l`<section><h4>${i}</h4><dl>${e}</dl></section>`:h}row(i,e,t,s=e){if(e===void 0||e==="")return h;let{messages:n}=this.formats,o={field:t,value:s},a=t?l`<button class="value" title=${n.filterBy(i,e)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${e}</button>`:e;return l`<dt>${i}</dt><dd>${a}</dd>`}changes(i){if(!i||i.length===0)return h;let{messages:e}=this.formats,t=s=>s===void 0?l`<span class="muted">${e.absent}</span>`:dt(s);return l`<section>
<h4>${e.changes}</h4>
<table>
<thead><tr><th scope="col">${e.field}</th><th scope="col">${e.before}</th><th scope="col">${e.after}</th></tr></thead>
<tbody>
${i.map(s=>l`<tr><th scope="row">${s.field}</th><td class="before">${t(s.before)}</td><td class="after">${t(s.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(i){await navigator.clipboard.writeText(i).catch(()=>{}),this.copied=this.formats.messages.copied}};function qi(r){let i=[],e=(t,s)=>{if(!(typeof s=="object"&&s!==null&&!Array.isArray(s)&&Object.keys(s).length>0))return void i.push([t,dt(s)]);for(let[o,a]of Object.entries(s))e(t?`${t}.${o}`:o,a)};return r&&e("",r),i}var P=["auth","access","mutation","admin","security","system"];var Se=["search","category","action","actor_id","actor_type","target_id","target_type","tenant_id","start_date","end_date"];function q(r){let i={};for(let e of Se){let t=r[e]?.trim();t&&(i[e]=t)}return i}function Jt(r){return Object.keys(q(r)).length===0}function Z(r){return q(r)}function qt(r){let{search:i,start_date:e,end_date:t,...s}=q(r);return s}function he(r){let i=new URLSearchParams(q(r.filter));return r.event&&i.set("event",r.event),i.toString()}function X(r){let i=new URLSearchParams(r.replace(/^#/,"")),e={};for(let s of Se){let n=i.get(s);n&&(e[s]=n)}let t=i.get("event")??"";return{filter:q(e),event:/^evt_[0-9A-Z]{26}$/.test(t)?t:void 0}}function Wt(r){return Y(r)?.tenant_id}function Y(r){let[,i]=r.replace(/^vt_/,"").split(".");if(!(!r.startsWith("vt_")||!i))try{let e=Uint8Array.from(atob(i.replace(/-/g,"+").replace(/_/g,"/")),t=>t.charCodeAt(0));return JSON.parse(new TextDecoder().decode(e))}catch{return}}var W=class{constructor(i,e,t){this.language=i;this.messages=e;this.isUtc=t;this.buckets=new Map;let s=t?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(i,{...s,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(i,{...s,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(i,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(i)}number(i){return this.numbers.format(i)}absolute(i){return this.absoluteTime.format(new Date(i))}full(i){return this.fullTime.format(new Date(i))}relative(i,e){let t=Math.round((Date.parse(i)-e)/1e3),s=Math.abs(t);if(s<10)return this.messages.justNow;let n=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=n.find(([,d])=>s>=d)??["second",1];return this.relativeTime.format(Math.trunc(t/a),o)}bucket(i,e){let t=this.buckets.get(e);if(!t){let s={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},week:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},month:{year:"numeric",month:"long",timeZone:"UTC"}},n=this.isUtc?{timeZone:"UTC"}:{};t=new Intl.DateTimeFormat(this.language,{...n,...s[e]}),this.buckets.set(e,t)}return t.format(new Date(i))}bytes(i){let e=i<1e6?"kilobyte":"megabyte",t=i/(e==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:e,maximumFractionDigits:1}).format(t)}};function ht(r,i){let e=new Date(r);if(i==="month")return Date.UTC(e.getUTCFullYear(),e.getUTCMonth()+1,1);let t={minute:6e4,hour:36e5,day:864e5,week:7*864e5};return e.getTime()+t[i]}function Kt(r,i){if(!r||Number.isNaN(Date.parse(r)))return"";let e=new Date(r);return(i?e:new Date(e.getTime()-e.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function Gt(r,i,e){if(!r)return;let t=Date.parse(i?`${r}Z`:r);return Number.isNaN(t)?void 0:new Date(t+(e?999:0)).toISOString()}var Wi=350,Zt={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},Pe=class extends w{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[_,b`
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
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(i,e){let t={...this.filter};e?t[i]=e:delete t[i],this.change(t)}change(i){clearTimeout(this.typing),this.filter=i,this.dispatchEvent(new CustomEvent("filter-change",{detail:q(i)}))}onInput(i,e){let{value:t}=e.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(i,t),Wi)}onEnter(i,e){e.key==="Enter"&&this.set(i,e.target.value)}rangeName(){let{start_date:i,end_date:e}=this.filter;return this.isCustomRange?"custom":!i&&!e?"all":this.chosen&&!e&&this.chosen.start===i?this.chosen.name:"custom"}onRange(i){let{value:e}=i.target;if(this.isCustomRange=e==="custom",e==="custom")return;let{start_date:t,end_date:s,...n}=this.filter;if(e==="all")return this.change(n);let o=e,a=new Date(Date.now()-Zt[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...n,start_date:a})}render(){let{messages:i}=this.formats,e=this.rangeName(),t=Object.keys(this.filter).length;return l`
<div class="row" role="search" part="filters">
<input
class="search"
type="search"
aria-label=${i.search}
placeholder=${`${i.search}: ${i.searchHint}`}
          maxlength="256"
          .value=${this.filter.search??""}
          @input=${s=>this.onInput("search",s)}
          @keydown=${s=>this.onEnter("search",s)}
        />
        <select aria-label=${i.category} @change=${s=>this.set("category",s.target.value)}>
          <option value="" .selected=${!this.filter.category}>${i.allCategories}</option>
          ${P.map(s=>l`<option value=${s} .selected=${this.filter.category===s}>${this.categoryLabel(s)}</option>`)}
        </select>
        <select aria-label=${i.range} @change=${this.onRange}>
          ${["all",...Object.keys(Zt),"custom"].map(s=>l`<option value=${s} .selected=${e===s}>${i.ranges[s]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?i.fewerFilters:i.moreFilters}
        </button>
        ${t>0?l`<button class="plain" @click=${()=>this.clear()}>${i.clearFilters}</button>`:h}
        <slot></slot>
      </div>
      ${e==="custom"?this.dates():h}
      ${this.isExpanded?this.fields():h} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(i){let e=this.formats.messages.categories[i]??i,t=this.top?.category?.find(s=>s.value===i);return t?`${e} (${this.formats.number(t.count)})`:e}dates(){let{messages:i}=this.formats,e=(t,s)=>l`
<label>
${s} (${this.isUtc?i.utc:i.localTime})
<input
type="datetime-local"
step="1"
.value=${Kt(this.filter[t],this.isUtc)}
@change=${n=>this.set(t,Gt(n.target.value,this.isUtc,t==="end_date"))}
/>
</label>
`;return l`<div class="dates">${e("start_date",i.from)} ${e("end_date",i.to)}</div>`}fields(){let{messages:i}=this.formats,e=[{field:"action",label:i.action,hint:i.actionHint,suggestions:"action"},{field:"actor_id",label:i.actorId,suggestions:"actor_id"},{field:"target_id",label:i.targetId},{field:"target_type",label:i.targetType,suggestions:"target_type"}];return this.hasTenants&&e.push({field:"tenant_id",label:i.tenant,suggestions:"tenant_id"}),l`<div class="grid">
${e.map(t=>this.textField(t))}
<label>
${i.actorType}
<select @change=${t=>this.set("actor_type",t.target.value)}>
<option value="" .selected=${!this.filter.actor_type}>${i.any}</option>
${Object.entries(i.actorTypes).map(([t,s])=>l`<option value=${t} .selected=${this.filter.actor_type===t}>${s}</option>`)}
        </select>
      </label>
    </div>`}textField({field:i,label:e,hint:t,suggestions:s}){let n=(s&&this.top?.[s])??[],o=`suggestions-${i}`;return l`<label>
${e}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${t??""}
list=${n.length>0?o:h}
.value=${this.filter[i]??""}
@input=${a=>this.onInput(i,a)}
@keydown=${a=>this.onEnter(i,a)}
/>
${n.length>0?l`<datalist id=${o}>${n.map(({value:a,count:d})=>l`<option value=${a}>${this.formats.number(d)}</option>`)}</datalist>`:h}
    </label>`}chips(){let{messages:i}=this.formats,e={search:i.search,category:i.category,action:i.action,actor_id:i.actorId,actor_type:i.actorType,target_id:i.targetId,target_type:i.targetType,tenant_id:i.tenant,start_date:i.from,end_date:i.to},t=Se.filter(n=>this.filter[n]&&n!=="search"&&n!=="category");if(t.length===0)return h;let s=(n,o)=>n.endsWith("_date")?this.formats.absolute(o):o;return l`<div class="chips">
${t.map(n=>{let o=s(n,this.filter[n]??"");return l`<button class="chip" title=${i.removeFilter(e[n],o)} @click=${()=>this.set(n,void 0)}>
          <span class="muted">${e[n]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var j=64,Xt=400,Re=class extends w{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([e])=>{e&&(this.width=Math.floor(e.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[_,b`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${j}px; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; justify-content: space-between; gap: 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.zoom { min-height: 20px; padding: 0 6px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let e=this.renderRoot.querySelector(".chart");e&&this.observer.observe(e)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(e){e.has("summary")&&(this.bars=this.summary?Ki(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(e){let t=this.bars[e];if(!t||!this.summary)return"";let{messages:s}=this.formats,n=s.eventCount(this.formats.number(t.count),t.count===1);return s.bucket(this.formats.bucket(t.start,this.summary.interval),n)}selectionLabel(){let[e,t]=this.selection();if(e===t)return this.label(e);let s=this.bars.slice(e,t+1).reduce((c,u)=>c+u.count,0),{messages:n}=this.formats,o=this.summary?.interval??"day",a=c=>c?this.formats.bucket(c.start,o):"",d=`${a(this.bars[e])} – ${a(this.bars[t])}`;return n.bucket(d,n.eventCount(this.formats.number(s),s===1))}selection(){let e=this.anchor??this.active;return[Math.min(e,this.active),Math.max(e,this.active)]}render(){let{messages:e}=this.formats,t=this.bars.length,s=Math.max(1,...this.bars.map(p=>p.count)),n=t?this.width/t:0,o=n>4?1:0,[a,d]=this.selection(),c=this.bars.map((p,g)=>this.stack(p,g*n,Math.max(n-o,.5),s)),u=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return l`
<div
class="chart"
part="histogram"
role="slider"
tabindex="0"
aria-label=${e.histogram}
aria-valuemin="0"
aria-valuemax=${Math.max(t-1,0)}
aria-valuenow=${Math.max(this.active,0)}
aria-valuetext=${this.active>=0?this.selectionLabel():e.histogramHelp}
title=${e.histogramHelp}
@keydown=${this.onKey}
@focus=${()=>this.moveTo(this.active<0?t-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${j}" preserveAspectRatio="none" aria-hidden="true">
${c}
<line class="base" x1="0" x2=${this.width} y1=${j-.5} y2=${j-.5}></line>
${u||this.active>=0&&n>0?_e`<rect class="selection" x=${a*n} y="0" width=${(d-a+1)*n} height=${j}></rect>`:h}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?l`<b aria-live="off">${this.selectionLabel()}</b>`:this.legend()}
        <span>
          ${this.caption()}
          ${this.isZoomed?l`<button class="plain zoom" @click=${()=>this.zoomOut()}>${e.zoomOut}</button>`:h}
        </span>
      </div>
    `}legend(){let e=P.filter(s=>this.bars.some(n=>n.categories?.[s])),t=this.formats.messages.categories;return l`<span class="legend">${e.map(s=>l`<span><span class="dot ${s}"></span>${t[s]??s}</span>`)}</span>`}caption(){let[e,t]=[this.bars[0],this.bars.at(-1)];if(!e||!t||!this.summary||this.active>=0)return h;let{interval:s}=this.summary;return`${this.formats.bucket(e.start,s)} – ${this.formats.bucket(t.start,s)}`}stack(e,t,s,n){if(e.count===0)return h;let o=(j-4)/n;if(!e.categories){let d=Math.max(e.count*o,1.5);return _e`<rect class="all" x=${t} width=${s} y=${j-d} height=${d}></rect>`}let a=j;return P.map(d=>{let c=e.categories?.[d]??0;if(c===0)return h;let u=Math.max(c*o,1.5);return a-=u,_e`<rect class=${d} x=${t} width=${s} y=${Math.max(a,0)} height=${u}></rect>`})}moveTo(e,t){t?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(e,this.bars.length-1))}onKey(e){let s=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:s,ArrowLeft:-s,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[e.key];if(o!==void 0)this.moveTo(this.active+o,e.shiftKey);else if(e.key==="Enter"||e.key===" ")this.zoom();else if(e.key==="Escape"&&this.isZoomed)this.zoomOut();else return;e.preventDefault(),e.stopPropagation()}indexAt(e){let t=e.currentTarget.getBoundingClientRect(),s=Math.max(0,Math.min(e.clientX-t.left,t.width-1));return Math.floor(s/t.width*this.bars.length)}onDown(e){e.button!==0||this.bars.length===0||(e.currentTarget.setPointerCapture(e.pointerId),this.isDragging=!0,this.active=this.indexAt(e),this.anchor=this.active)}onMove(e){this.bars.length>0&&(this.active=this.indexAt(e))}onUp(e){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(e),this.zoom())}zoom(){let[e,t]=this.selection(),[s,n]=[this.bars[e],this.bars[t]];if(!s||!n)return;let o={start:new Date(s.start).toISOString(),end:new Date(n.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function Ki(r){let{interval:i}=r,e=new Map(r.buckets.map(a=>[Date.parse(a.start),a])),t=[...e.keys()].sort((a,d)=>a-d),[s,n]=[t[0],t.at(-1)];if(s===void 0||n===void 0)return[];let o=[];for(let a=s;a<=n&&o.length<=Xt;){let d=new Date(a).toISOString(),c=ht(d,i);o.push({...e.get(a)??{start:d,count:0,categories:{}},end:c}),a=c}return o.length<=Xt?o:t.map(a=>{let d=e.get(a);return{...d,end:ht(d.start,i)}})}var T=class extends Error{constructor(e,t,s){super(t,s);this.code=e}code;name="VerificationError"};function f(r,i,e){if(!r)throw new T(i,e)}var Gi=new TextEncoder;function Q(r){return Gi.encode(r)}function Ce(...r){let i=new Uint8Array(r.reduce((t,s)=>t+s.length,0)),e=0;for(let t of r)i.set(t,e),e+=t.length;return i}function N(r,i){if(r.length!==i.length)return!1;let e=0;for(let t=0;t<r.length;t+=1)e|=r[t]^i[t];return e===0}function pe(r){return Array.from(r,i=>i.toString(16).padStart(2,"0")).join("")}function ee(r,i,e){return f(typeof r=="string"&&r.length===2*e&&/^[0-9a-f]*$/.test(r),"malformed",`${i} is not ${2*e} hexadecimal digits`),Uint8Array.from({length:e},(t,s)=>Number.parseInt(r.slice(2*s,2*s+2),16))}function I(r,i){f(typeof r=="string","malformed",`${i} is not base64`);let e;try{e=atob(r)}catch(t){throw new T("malformed",`${i} is not base64`,{cause:t})}return f(btoa(e)===r,"malformed",`${i} is not base64`),Uint8Array.from(e,t=>t.charCodeAt(0))}function Oe(){let r=globalThis.crypto?.subtle;if(r===void 0)throw new T("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return r}async function R(...r){return new Uint8Array(await Oe().digest("SHA-256",Ce(...r)))}var Zi=128,Xi=Uint8Array.of(0),Yi=Uint8Array.of(1);function pt(r){return R(Xi,r)}function te(r,i){return R(Yi,r,i)}function Me(r,i){return f(Array.isArray(r)&&r.length<=Zi,"malformed",`${i} is not a list of hashes`),r.map(e=>{let t=I(e,`a hash of ${i}`);return f(t.length===32,"malformed",`a hash of ${i} is not 32 bytes long`),t})}async function ut(r){let{index:i,size:e}=r;f(Number.isSafeInteger(i)&&i>=0&&i<e,"not_included","the log has no such position");let t=i,s=e-1,n=r.leaf;for(let o of r.hashes){if(f(s!==0,"not_included","the proof has too many hashes"),t%2===1||t===s)for(n=await te(o,n);t%2===0&&t!==0;)t=Math.floor(t/2),s=Math.floor(s/2);else n=await te(n,o);t=Math.floor(t/2),s=Math.floor(s/2)}f(s===0,"not_included","the proof has too few hashes"),f(N(n,r.root),"not_included","the event is not in the log at this position")}async function mt(r){let{from:i,to:e}=r;if(f(i.size<=e.size,"inconsistent","the later checkpoint has fewer events"),i.size===0||i.size===e.size){f(r.hashes.length===0,"inconsistent","the proof has too many hashes"),f(i.size===0||N(i.root,e.root),"inconsistent","two roots of one size");return}let s=Number.isInteger(Math.log2(i.size))&&2**Math.round(Math.log2(i.size))===i.size?[i.root,...r.hashes]:[...r.hashes];f(s.length>0,"inconsistent","the proof has too few hashes");let n=i.size-1,o=e.size-1;for(;n%2===1;)n=Math.floor(n/2),o=Math.floor(o/2);let[a,d]=[s[0],s[0]];for(let c of s.slice(1)){if(f(o!==0,"inconsistent","the proof has too many hashes"),n%2===1||n===o)for(a=await te(c,a),d=await te(c,d);n%2===0&&n!==0;)n=Math.floor(n/2),o=Math.floor(o/2);else d=await te(d,c);n=Math.floor(n/2),o=Math.floor(o/2)}f(o===0,"inconsistent","the proof has too few hashes"),f(N(a,i.root)&&N(d,e.root),"inconsistent","the later checkpoint does not continue the earlier one: history was rewritten")}var Qi=128*1024,es=100,Yt="— ",ts=1;async function Qt(r){let i=a=>{throw new T("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[e="",t="",...s]=r.trim().split("+"),n=(()=>{try{return{id:ee(t,"the key id",4),bytes:I(s.join("+"),"the key")}}catch(a){return i(a)}})();(!ei(e)||n.bytes.length!==33||n.bytes[0]!==ts)&&i();let o=(await R(Q(`${e}
`),n.bytes)).slice(0,4);return f(N(o,n.id),"invalid_key","the key id is not that of the key"),{name:e,id:n.id,publicKey:n.bytes.slice(1)}}function ei(r){return r!==""&&!/[\s+\u0000-\u001f]/u.test(r)}async function is(r){let i=typeof r=="string"?[r]:r;return f(i.length>0,"invalid_key","no key is given"),Promise.all(i.map(Qt))}function ss(r){let i="a line after the text of the note is not a signature";f(r.startsWith(Yt),"malformed",i);let[e="",t,...s]=r.slice(Yt.length).split(" ");f(ei(e)&&s.length===0,"malformed",i);let n=I(t,"a signature");return f(n.length>4,"malformed",i),{name:e,id:n.slice(0,4),bytes:n.slice(4)}}async function rs(r,i,e){let t;try{t=await Oe().importKey("raw",r.publicKey,{name:"Ed25519"},!1,["verify"])}catch(s){throw new T("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:s})}return Oe().verify({name:"Ed25519"},t,e,Q(i))}async function ti(r,i){f(typeof r=="string"&&r.length<=Qi,"malformed","the note is too long"),f(!/[\u0000-\u0009\u000b-\u001f]/.test(r),"malformed","the note has control characters");let e=r.lastIndexOf(`

`);f(e>=0&&r.endsWith(`
`)&&r.length>e+2,"malformed","the note has no signatures");let t=r.slice(0,e+1),s=r.slice(e+2,-1).split(`
`);f(s.length<=es,"malformed","the note has too many signatures");let n;for(let o of s.map(ss)){let a=i.find(({name:d,id:c})=>d===o.name&&N(c,o.id));a!==void 0&&(f(await rs(a,t,o.bytes),"invalid_signature","a signature is not valid"),n??=a)}return f(n!==void 0,"invalid_signature","the note is not signed by the given key"),{text:t,key:n}}async function ie(r,i,e){let{text:t,key:s}=await ti(r,await is(i)),[n="",o="",a="",...d]=t.slice(0,-1).split(`
`);f(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let c=Number(o);f(Number.isSafeInteger(c),"malformed","the size of the checkpoint is too large");let u=I(a,"the root of the checkpoint");return f(u.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),f(c>0||N(u,await R()),"malformed","the root is not that of the empty log"),f(d.every(p=>p!==""),"malformed","the checkpoint has an empty line"),e!==void 0&&f(n===e,"other_log",`this is a checkpoint of ${n}, not of ${e}`),f(n.startsWith(`${s.name}/`),"other_log",`${n} is not a log of ${s.name}`),{origin:n,size:c,root:u,signedBy:s.name}}function ft(r){let i=r.origin.slice(r.signedBy.length+1),e=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(i);return f(e!==null,"other_log",`${r.origin} is not the log of a project or of one of its tenants`),{log:e[1],tenantLabel:e[2]}}var L=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],ii={kind:["action","actor.type","category","target.type"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name"]},ns=["id","occurred_at","received_at","tenant_id"],Fe=16,os=32;function as(r,i){let e=r;for(let t of i.split(".")){if(typeof e!="object"||e===null||!Object.hasOwn(e,t))return;e=e[t]}return e}function si(r,i){let e=i.map(t=>{let s=as(r,t);return s===void 0?"":Ee(s)});return Q(e.join(`
`))}async function ls(r){let i=Array.from({length:Math.ceil(L.length/2)},(t,s)=>R(Uint8Array.of(4),r,Uint8Array.of(s))),e=Ce(...await Promise.all(i));return L.map((t,s)=>e.slice(Fe*s,Fe*(s+1)))}function ri(r,i,e){return R(Uint8Array.of(2),e,Uint8Array.of(i),si(r,ii[L[i]]))}function ni(r,i,e){return R(Uint8Array.of(3),Q(`${e}
`),...i,si(r,ns))}async function gt(r,i,e){let t=await ls(ee(i,"content_salt",Fe)),s=await Promise.all(t.map((n,o)=>ri(r,o,n)));return ni(r,s,e)}async function vt(r,i,e){f(Object.keys(i).length===L.length&&L.every(s=>Object.hasOwn(i,s)),"malformed","the proof does not have the eleven parts of an event");let t=L.map((s,n)=>{let o=i[s];return f(typeof o=="object"&&o!==null,"malformed",`the part ${s} is not an object`),"hash"in o?(f(!("salt"in o),"malformed",`the part ${s} has both a salt and a hash`),ee(o.hash,`the hash of the part ${s}`,os)):ri(r,n,ee(o.salt,`the salt of the part ${s}`,Fe))});return ni(r,await Promise.all(t),e)}async function oi(r,i,e){let t,s=e?.trim()||void 0;try{t=await r.get(`/events/${i.id}/proof`),!s&&!r.isViewer&&(s=(await r.text("/log/key")).trim())}catch(n){let o=x(n),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return cs(i,t,s,!!e?.trim(),ds(r))}function ds(r){let i=Y(r.connection.credential)?.sub;return i?`${i}/live`:void 0}async function cs(r,i,e,t,s){let n=[],o=async(p,g)=>{try{return n.push({name:p,state:"ok",detail:await g()}),!0}catch(m){if(m instanceof T&&m.code==="unsupported_runtime")throw m;return n.push({name:p,state:"failed",detail:m instanceof Error?m.message:String(m)}),!1}},a=ms(i.checkpoint),d=a?fs(a.origin):void 0;try{if(await o("identity",async()=>hs(r,i,d,s)),await o("content",()=>ps(r,i,d)),await o("inclusion",()=>us(i,a)),e){let p;await o("signature",async()=>(p=await ie(i.checkpoint,e,a?.origin),ft(p),p.signedBy))}else n.push({name:"signature",state:"skipped",detail:""})}catch(p){return{outcome:"unavailable",steps:n,reason:"unsupported",message:x(p).message,hidden:[]}}n.push({name:"key",state:t&&n.at(-1)?.state==="ok"?"ok":"skipped",detail:e??""});let u={outcome:n.some(p=>p.state==="failed")?"failed":t?"verified":"consistent",steps:n,hidden:gs(i),position:i.seq,key:e};return a&&Object.assign(u,{origin:a.origin,size:a.size}),u}function hs(r,i,e,t){if(r.content_hash!==i.content_hash)throw new Error("the proof is one of another event");if(!e)throw new Error("the checkpoint does not name a log of a project");if(t&&e!==t)throw new Error(`the proof is one of the log ${e}`);return r.id}async function ps(r,i,e){if(!e)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:t,parts:s}=i,o=typeof t=="string"?await gt(r,t,e):await vt(r,s??{},e),a=`sha256:${pe(o)}`;if(a!==i.content_hash)throw new Error(`the fields shown give ${a}, the log has ${i.content_hash}`);return a}async function us(r,i){if(!i)throw new Error("the checkpoint is not in the form of one");let e=r.content_hash.replace(/^sha256:/,""),t=Uint8Array.from(e.match(/../g)??[],o=>Number.parseInt(o,16)),s=Me(r.inclusion,"the inclusion proof"),n=await pt(t);return await ut({index:r.seq,size:i.size,leaf:n,hashes:s,root:I(i.root,"the root")}),`${r.seq} / ${i.size}`}function ms(r){if(typeof r!="string")return;let[i="",e="",t=""]=r.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(e)?{origin:i,size:Number(e),root:t}:void 0}function fs(r){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(r)?.[1]}function gs(r){let{content_salt:i,parts:e}=r;return typeof i=="string"||!e?[]:L.filter(t=>Object.hasOwn(e[t]??{},"hash"))}var De=class extends w{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[_,b`
:host { display: block; }
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
.detail { display: block; overflow-wrap: anywhere; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
`]}willUpdate(e){(e.has("event")||e.has("pinnedKey"))&&this.check()}async check(){let e=++this.run;this.report=void 0;let t=await oi(this.api,this.event,this.pinnedKey);if(e!==this.run)return;this.report=t;let s={event:this.event.id,outcome:t.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:s,bubbles:!0,composed:!0}))}render(){let{messages:e}=this.formats,t=e.proof,{report:s}=this;if(!s)return l`<div class="mark" role="status"><p class="spinner">${t.running}</p></div>`;let n={verified:t.verified,consistent:t.consistent,failed:t.failed,unavailable:t.unavailable},o={verified:t.verifiedText,consistent:t.consistentText,failed:t.failedText,unavailable:this.reason(s)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},d=s.outcome==="verified"||s.outcome==="consistent";return l`
<div class="mark ${s.outcome}" part="proof proof-${s.outcome}" role=${s.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[s.outcome]}</span>${n[s.outcome]}</h4>
<p>${o[s.outcome]}</p>
${s.outcome==="consistent"?l`<p>${s.key?t.unpinnedText:t.noKeyText}</p>`:h}
        ${s.hidden.length>0?l`<p>${t.hidden(s.hidden.join(", "))}</p>`:h}
        ${s.steps.length>0?l`<details ?open=${!d}>
<summary>${t.checks}</summary>
${s.outcome==="verified"?l`<p>${t.pinnedText}</p>`:h}
              <ul class="steps">${s.steps.map(c=>this.step(c))}</ul>
              ${this.facts(s)}
            </details>`:h}
        <details>
          <summary>${t.notProven}</summary>
          <ul>${t.notProvenList.map(c=>l`<li>${c}</li>`)}</ul>
        </details>
        ${d?h:l`<p><button @click=${()=>this.check()}>${t.again}</button></p>`}
      </div>
    `}reason(e){let t=this.formats.messages.proof,n={forbidden:t.tier,unsupported:t.unsupported,offline:this.formats.messages.offlineText,other:""}[e.reason??"other"]||e.message||"";return`${t.unavailableText} ${n}`}step({name:e,state:t,detail:s}){let n=this.formats.messages.proof;return l`<li class=${t}>
${n.steps[e]}${t==="skipped"?l` <span class="muted">(${n.skipped})</span>`:h}
      ${t==="failed"?l`<code class="detail">${s}</code>`:h}
    </li>`}facts({position:e,size:t,origin:s,key:n}){let o=this.formats.messages.proof;return e===void 0||t===void 0?h:l`
<p>${o.position(this.formats.number(e+1),this.formats.number(t))}</p>
<dl>
${s?l`<dt class="muted">${o.signedBy}</dt><dd class="mono">${s}</dd>`:h}
        ${n?l`<dt class="muted">${o.key}</dt><dd class="mono">${n}</dd>`:h}
      </dl>
    `}};var ai={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},li=r=>(...i)=>({_$litDirective$:r,values:i}),Ne=class{constructor(i){}get _$AU(){return this._$AM._$AU}_$AT(i,e,t){this._$Ct=i,this._$AM=e,this._$Ci=t}_$AS(i,e){return this.update(i,e)}update(i,e){return this.render(...e)}};var{I:vs}=Ht,di=r=>r;var ci=()=>document.createComment(""),se=(r,i,e)=>{let t=r._$AA.parentNode,s=i===void 0?r._$AB:i._$AA;if(e===void 0){let n=t.insertBefore(ci(),s),o=t.insertBefore(ci(),s);e=new vs(n,o,r,r.options)}else{let n=e._$AB.nextSibling,o=e._$AM,a=o!==r;if(a){let d;e._$AQ?.(r),e._$AM=r,e._$AP!==void 0&&(d=r._$AU)!==o._$AU&&e._$AP(d)}if(n!==s||a){let d=e._$AA;for(;d!==n;){let c=di(d).nextSibling;di(t).insertBefore(d,s),d=c}}}return e},U=(r,i,e=r)=>(r._$AI(i,e),r),ys={},hi=(r,i=ys)=>r._$AH=i,pi=r=>r._$AH,Le=r=>{r._$AR(),r._$AA.remove()};var ui=(r,i,e)=>{let t=new Map;for(let s=i;s<=e;s++)t.set(r[s],s);return t},mi=li(class extends Ne{constructor(r){if(super(r),r.type!==ai.CHILD)throw Error("repeat() can only be used in text expressions")}dt(r,i,e){let t;e===void 0?e=i:i!==void 0&&(t=i);let s=[],n=[],o=0;for(let a of r)s[o]=t?t(a,o):o,n[o]=e(a,o),o++;return{values:n,keys:s}}render(r,i,e){return this.dt(r,i,e).values}update(r,[i,e,t]){let s=pi(r),{values:n,keys:o}=this.dt(i,e,t);if(!Array.isArray(s))return this.ut=o,n;let a=this.ut??=[],d=[],c,u,p=0,g=s.length-1,m=0,y=n.length-1;for(;p<=g&&m<=y;)if(s[p]===null)p++;else if(s[g]===null)g--;else if(a[p]===o[m])d[m]=U(s[p],n[m]),p++,m++;else if(a[g]===o[y])d[y]=U(s[g],n[y]),g--,y--;else if(a[p]===o[y])d[y]=U(s[p],n[y]),se(r,d[y+1],s[p]),p++,y--;else if(a[g]===o[m])d[m]=U(s[g],n[m]),se(r,s[p],s[g]),g--,m++;else if(c===void 0&&(c=ui(o,m,y),u=ui(a,p,g)),c.has(a[p]))if(c.has(a[g])){let E=u.get(o[m]),Ze=E!==void 0?s[E]:null;if(Ze===null){let kt=se(r,s[p]);U(kt,n[m]),d[m]=kt}else d[m]=U(Ze,n[m]),se(r,s[p],Ze),s[E]=null;m++}else Le(s[g]),g--;else Le(s[p]),p++;for(;m<=y;){let E=se(r,d[y+1]);U(E,n[m]),d[m++]=E}for(;p<=g;){let E=s[p++];E!==null&&Le(E)}return this.ut=o,hi(r,d),M}});async function fi(r,i,e,t,s){let n=await r.fetch("GET","/events/export",{parameters:{...Z(i),format:e},signal:s}),o=/filename="([^"]+)"/.exec(n.headers.get("content-disposition")??"")?.[1]??`events.${e}`,a=[],d=0,c=n.body?.getReader();for(;;){let u=await c?.read().catch(bs);if(!u||u.done)break;a.push(u.value),d+=u.value.length,t(d)}ue(new Blob(a,{type:n.headers.get("content-type")??"application/octet-stream"}),o)}function bs(r){throw A(r)?r:new S("offline","the export was interrupted")}function ue(r,i){let e=URL.createObjectURL(r),t=document.createElement("a");t.href=e,t.download=i,t.click(),setTimeout(()=>URL.revokeObjectURL(e),6e4)}var gi=200,vi=40;function yi(r,i){return r.occurred_at===i.occurred_at?r.id>i.id:r.occurred_at>i.occurred_at}var je=class{constructor(i,e,t){this.api=i;this.filter=e;this.signal=t;this.pages=[];this.next=null;this.isStarted=!1}continueWith(i){this.api=i}get length(){return this.pages.reduce((i,e)=>i+e.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(i){let e=i;for(let t of this.pages){if(e<t.count)return t.events?.[e];e-=t.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let i=this.next,e=await this.read(i);this.isStarted=!0,this.next=e.has_more?e.cursor:null;let t=e.events.at(-1);t&&this.pages.push({cursor:i,count:e.events.length,events:e.events,lastId:t.id})}read(i){let e={...Z(this.filter),limit:gi,cursor:i??void 0};return this.api.get("/events",e,this.signal)}async show(i,e){let t=0,s=this.pages.map(d=>{let c=t;return t+=d.count,{page:d,start:c,end:t}}),n=({start:d,end:c})=>d<e&&c>i,o=s.filter(d=>n(d)&&!d.page.events);await Promise.all(o.map(({page:d})=>this.readAgain(d)));let a=this.pages.filter(d=>d.events).length;if(a>vi){let d=(i+e)/2,c=({start:p,end:g})=>Math.abs((p+g)/2-d),u=s.filter(p=>p.page.events&&p.start>0).sort((p,g)=>c(g)-c(p));for(let{page:p}of u.slice(0,a-vi))p.events=void 0}return o.length>0}async readAgain(i){let{events:e}=await this.read(i.cursor),t=e.findIndex(s=>s.id===i.lastId);i.events=t<0?e:e.slice(0,t+1),i.count=i.events.length}async refresh(){let{events:i}=await this.read(null),e=this.pages[0];if(!e?.events)return i.length>0?void 0:[];let t=new Set(e.events.map(d=>d.id)),s=e.events.at(-1),n=this.pages.length===1&&this.isComplete,o=i.filter(d=>!t.has(d.id)&&(n||s&&yi(d,s)));if(o.length===i.length&&i.length>=gi)return;let a=new Set(o.map(d=>d.id));return e.events=[...e.events,...o].sort((d,c)=>yi(d,c)?-1:1),e.count=e.events.length,e.lastId=e.events.at(-1)?.id??"",e.events.flatMap((d,c)=>a.has(d.id)?[c]:[])}};var bi={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter aus Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(r,i)=>`Filter entfernen: ${r} ${i}`,filterBy:(r,i)=>`Nur Ereignisse mit ${r} ${i} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(r,i)=>i?`${r} Ereignis`:`${r} Ereignisse`,loadedCount:r=>`${r} Ereignisse geladen`,newEvents:(r,i)=>i?`${r} neues Ereignis`:`${r} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(r,i)=>`${r}: ${i}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",localTime:"Ortszeit",download:"Herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:r=>`Wird heruntergeladen … ${r}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",position:(r,i)=>`Stelle ${r} von ${i} im Log`,hidden:r=>`Für Sie nicht sichtbar und daher nicht geprüft: ${r}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var re={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(r,i)=>`Remove filter ${r}: ${i}`,filterBy:(r,i)=>`Show only events with ${r} ${i}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(r,i)=>i?`${r} event`:`${r} events`,loadedCount:r=>`${r} events loaded`,newEvents:(r,i)=>i?`${r} new event`:`${r} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(r,i)=>`${r}: ${i}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",localTime:"Local time",download:"Download",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:r=>`Downloading … ${r}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",position:(r,i)=>`Position ${r} of ${i} in the log`,hidden:r=>`Not visible to you, and so not checked: ${r}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var ws=new Map([["en",re],["de",bi]]);function yt(r){for(let i of r)for(let e of[i.toLowerCase(),i.toLowerCase().split("-")[0]??""]){let t=ws.get(e);if(t)return{name:i,messages:t}}return{name:"en",messages:re}}var wi=1e3,$s=3e4;async function $i(r,i,e,t){let s="latest",n=wi;for(;!t.aborted;){try{for await(let o of ks(r,i,s,t)){if(n=wi,e.connected(!0),o.event==="end"){let{code:a,message:d}=JSON.parse(o.data);throw new S("expired",d,401,a)}o.id&&(s=o.id),o.event==="audit"&&e.arrived()}}catch(o){if(t.aborted||A(o))return;let a=x(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){e.connected(!1),e.ended(a);return}}e.connected(!1),await xs(n*(1+Math.random()),t),n=Math.min(n*2,$s)}}function xs(r,i){return new Promise(e=>{let t=setTimeout(e,r);i.addEventListener("abort",()=>(clearTimeout(t),e()),{once:!0})})}async function*ks(r,i,e,t){let s={...qt(i),after:e},o=(await r.fetch("GET","/events/feed",{parameters:s,accept:"text/event-stream",signal:t})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:d,value:c}=await o.read();if(d)return;a+=c;let u=a.split(`

`);a=u.pop()??"";for(let p of u)yield _s(p)}}finally{await o.cancel().catch(()=>{})}}function _s(r){let i={event:"",data:"",id:""};for(let e of r.split(`
`)){let t=e.indexOf(": "),s=e.slice(0,t);(s==="event"||s==="data"||s==="id")&&(i[s]=e.slice(t+2))}return i}var xi=b`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden;
container-type: inline-size;
}
.root { display: flex; flex-direction: column; flex: 1; min-height: 0; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages { padding: 8px 12px 0; } .messages:empty { display: none; }
.main { display: flex; flex: 1; min-height: 0; position: relative; }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) minmax(120px, 1fr) minmax(120px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) minmax(110px, 1fr) minmax(110px, 1fr) minmax(90px, 0.7fr); }
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
.line .action span:last-child { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
audit-log-event { flex: 0 0 min(46%, 560px); border-inline-start: 1px solid var(--border); }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live[aria-pressed="true"]::before { background: var(--good); }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template-columns: 1fr auto; grid-template-rows: 22px 20px; gap: 0 10px; height: 56px; align-content: center; }
.narrow .line .action { grid-area: 1 / 1; } .narrow .line .when { grid-area: 1 / 2; }
.narrow .line .who { grid-area: 2 / 1; } .narrow .line .what { grid-area: 2 / 2; max-width: 44cqi; } .narrow .line .tenant { display: none; }
.narrow audit-log-event { position: absolute; inset: 0; z-index: 4; border: 0; }
.narrow .tools { margin-inline-start: 0; }
.narrow .menu > div { inset-inline: 0 auto; }
`;var Es=34,As=56,Ts=640,ki=12,Ss=80,Ps=400,Rs=1e4,Cs=15e3,Os=5e3,Ie=class extends w{constructor(){super();this.api=new D({baseUrl:"",credential:""});this.formats=new W("en",yt(["en"]).messages,!1);this.loading=new AbortController;this.following=new AbortController;this.summaryReadAt=0;this.askedAt=-1/0;this.askedFor="";this.freshIds=new Set;this.resize=new ResizeObserver(([e])=>{e&&(this.isNarrow=e.contentRect.width<Ts),this.requestUpdate()});this.onHash=()=>{!this.fragment||he(X(location.hash))===he(this.view)||this.applyView(X(location.hash))};this.onOnline=()=>{(this.isOffline||this.failure?.kind==="offline")&&this.start()};this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isLoading=!1,this.isLoadingMore=!1,this.active=0,this.isConnected_=!1,this.isOffline=!1,this.isAbsolute=!0,this.isUtc=!1,this.isNarrow=!1,this.isMenuOpen=!1,this.downloadFailure="",this.arrivedCount=0,this.isWaiting=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},failure:{state:!0},isLoading:{state:!0},isLoadingMore:{state:!0},summary:{state:!0},active:{state:!0},isConnected_:{state:!0},isOffline:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},isNarrow:{state:!0},isMenuOpen:{state:!0},downloaded:{state:!0},downloadFailure:{state:!0},arrivedCount:{state:!0},isWaiting:{state:!0},announcement:{state:!0}}}static{this.styles=[_,Ae,xi]}connectedCallback(){super.connectedCallback(),this.resize.observe(this),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Cs),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),this.fragment&&this.applyView(X(location.hash)),this.hasUpdated&&this.start()}disconnectedCallback(){super.disconnectedCallback(),this.resize.disconnect(),clearInterval(this.clock),clearTimeout(this.arrivals),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),this.loading.abort(),this.following.abort(),this.downloading?.abort()}get link(){return`${location.href.split("#")[0]}#${he(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted}}applyView(e){this.filter=e.filter,this.wanted=e.event,this.opened=void 0}showView(){this.fragment&&this.link!==location.href&&history.replaceState(history.state,"",this.link),this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:he(this.view)},bubbles:!0,composed:!0}))}willUpdate(e){if(e.has("lang")||e.has("isUtc")||!this.hasUpdated){let n=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:o,messages:a}=yt([this.lang,n,...navigator.languages].filter(c=>c)),d=navigator.languages.find(c=>c.split("-")[0]===o.split("-")[0]);this.formats=new W(o.includes("-")?o:d??o,a,this.isUtc)}let s=["baseUrl","token","projectId","environment"].some(n=>e.has(n));s&&(this.api=new D({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment})),e.has("token")&&this.isSameReader(e.get("token"))?this.resume():(s||e.has("filter"))&&this.start(),e.has("wanted")&&this.wanted&&this.pages&&!this.isLoading&&this.openById(this.wanted),e.has("paused")&&!s&&this.pages&&this.followLive()}updated(e){(e.has("filter")||e.has("opened"))&&this.showView(),this.layOut()}async reload(){await this.updateComplete,this.start()}start(){this.loading.abort(),this.following.abort(),this.loading=new AbortController,this.isWaiting=!1,this.failure=void 0,this.isOffline=!1,this.arrivedCount=0,this.active=0,this.pages=void 0,this.token&&this.load(new je(this.api,this.filter,this.loading.signal),this.loading.signal)}async load(e,t){this.isLoading=!0,this.pages=e,this.readSummary(t);try{await e.more(),this.announcement=this.formats.messages.loadedCount(this.formats.number(e.length))}catch(n){if(A(n))return;this.fail(x(n))}finally{t.aborted||(this.isLoading=!1)}if(t.aborted)return;let s=this.grid;s&&(s.scrollTop=0),this.failure||this.followLive(),this.wanted&&this.openById(this.wanted),this.requestUpdate()}isSameReader(e){let[t,s]=[Y(e??""),Y(this.token)];return!!(t&&s&&t.sub===s.sub&&t.tenant_id===s.tenant_id&&t.tier===s.tier&&this.pages&&this.pages.length>0)}resume(){this.isWaiting=!1,this.failure=void 0,this.pages?.continueWith(this.api),this.followLive()}async readSummary(e){this.summaryReadAt=Date.now();try{let t={...Z(this.filter),split:"category"};this.summary=await this.api.get("/events/summary",t,e)}catch(t){!A(t)&&["not_found","forbidden"].includes(x(t).kind)&&(this.summary=void 0)}}followLive(){if(this.following.abort(),this.isConnected_=!1,this.paused||!this.token)return;this.following=new AbortController;let e=!0,t={arrived:()=>this.onArrival(),connected:s=>{s&&(this.isOffline=!1),s&&e&&this.onArrival(),e&&=!s,this.isConnected_=s},ended:s=>{s.kind==="expired"?this.fail(s):this.paused=!0}};$i(this.api,this.filter,t,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.showArrivals()},Ps)}async showArrivals(){let{pages:e,grid:t}=this;if(!e||this.paused)return;let{signal:s}=this.loading;try{let n=await e.refresh();if(s.aborted)return;if(!n)return this.start();for(let o of n){let a=e.at(o);a&&this.freshIds.add(a.id),o<=this.active&&(this.active+=1)}n.length>0&&t&&t.scrollTop>0?(await this.updateComplete,t.scrollTop+=n.length*this.rowHeight,this.arrivedCount+=n.length):this.active=Math.max(0,Math.min(this.active,e.length-1)),Date.now()-this.summaryReadAt>Rs&&this.readSummary(s),this.requestUpdate()}catch(n){A(n)||this.fail(x(n))}}fail(e){if(e.kind==="offline"&&this.pages&&this.pages.length>0){this.isOffline=!0;return}this.failure=e,e.kind==="expired"&&(this.following.abort(),this.isConnected_=!1,this.askForToken(e))}async askForToken(e){if(this.askedFor===this.token)return;this.askedFor=this.token;let t=new CustomEvent("audit-token-expired",{detail:{code:e.code},bubbles:!0,composed:!0,cancelable:!0}),s=!this.dispatchEvent(t),n=Date.now()-this.askedAt<Os;if(this.isWaiting=s||!!this.refreshToken&&!n,!(!this.refreshToken||n)){this.askedAt=Date.now();try{this.token=await this.refreshToken()}catch{this.isWaiting=!1}}}get grid(){return this.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?As:Es}window(){let{grid:e,pages:t}=this,s=t?.length??0,n=e?.scrollTop??0,o=e?.clientHeight||800,a=Math.max(0,Math.floor(n/this.rowHeight)-ki);return[Math.min(a,s),Math.min(s,Math.ceil((n+o)/this.rowHeight)+ki)]}layOut(){let{pages:e}=this;if(!e)return;let[t,s]=this.window(),n=this.renderRoot.querySelector(".before-rows"),o=this.renderRoot.querySelector(".after-rows");n?.style.setProperty("height",`${t*this.rowHeight}px`),o?.style.setProperty("height",`${(e.length-s)*this.rowHeight}px`),s+Ss>e.length&&!e.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline&&this.more(),e.show(t,s).then(a=>a&&this.requestUpdate(),a=>this.onBackground(a))}onBackground(e){A(e)||this.fail(x(e))}async more(){this.isLoadingMore=!0;try{await this.pages?.more()}catch(e){this.onBackground(e)}finally{this.isLoadingMore=!1}}render(){let{messages:e}=this.formats,t=this.pages&&(this.pages.length>0||!this.isLoading&&!this.failure);return l`
<div class="root ${this.isNarrow?"narrow":""} ${this.hasTenants?"tenants":""}" dir=${e.direction} lang=${this.formats.language}>
${this.token?this.head():h}
<div class="messages">${this.messages()}</div>
<div class="main">
${t&&this.pages&&this.pages.length>0?this.list(this.pages):this.emptyState()}
${this.opened?l`<audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${s=>this.step(s.detail)}
                @filter-by=${this.onFilterBy} @keydown=${this.onDetailsKey}
              ></audit-log-event>`:h}
        </div>
        ${this.token?this.foot():h}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}get hasTenants(){return!Wt(this.token)}head(){let{messages:e}=this.formats,{summary:t}=this;return l`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${t?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${s=>this.filter=s.detail}
>
<div class="tools">
<button class="live" aria-pressed=${!this.paused} title=${this.paused?e.liveStart:e.livePause} @click=${()=>this.paused=!this.paused}>
${!this.paused&&!this.isConnected_&&!this.failure?e.liveConnecting:e.live}
</button>
<div class="menu" @focusout=${this.onMenuFocus} @keydown=${this.onMenuKey}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.isMenuOpen=!this.isMenuOpen}>${e.download}</button>
${this.isMenuOpen?l`<div>
                    <button @click=${()=>this.save("csv")}>${e.downloadCsv}</button>
                    <button @click=${()=>this.save("jsonl")}>${e.downloadJson}</button>
                  </div>`:h}
            </div>
          </div>
        </audit-log-filters>
      </div>
      ${t&&t.buckets.length>0?l`<div class="chart">
<audit-log-histogram
.summary=${t} .formats=${this.formats} ?narrow=${this.isNarrow}
.isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
@zoom=${s=>this.filter={...this.filter,start_date:s.detail.start,end_date:s.detail.end}}
@zoom-out=${()=>this.zoomOut()}
></audit-log-histogram>
</div>`:h}
    `}zoomOut(){let{start_date:e,end_date:t,...s}=this.filter;this.filter=s}messages(){let{messages:e}=this.formats,t=[],s=l`<button @click=${()=>this.start()}>${e.retry}</button>`;return this.isOffline&&t.push(l`<div class="notice" role="status"><b>${e.offline}</b><span>${e.offlineText}</span>${s}</div>`),this.failure&&this.pages&&this.pages.length>0&&t.push(l`<div class="notice bad" role="alert">${this.failureText(this.failure)}</div>`),this.downloaded!==void 0&&t.push(l`<div class="notice good" role="status">${e.downloading(this.formats.bytes(this.downloaded))}
<button @click=${()=>this.downloading?.abort()}>${e.cancel}</button></div>`),this.downloadFailure&&t.push(l`<div class="notice bad" role="alert">${e.downloadFailed}: ${this.downloadFailure}</div>`),t}emptyState(){let{messages:e}=this.formats;return this.token?this.failure?l`<div class="state" part="state" role="alert">${this.failureText(this.failure)}</div>`:this.isLoading||!this.pages?l`<div class="state" part="state" role="status"><p class="spinner">${e.loading}</p></div>`:Jt(this.filter)?l`<div class="state" part="state"><h3>${e.empty}</h3><p>${e.emptyText}</p></div>`:l`<div class="state" part="state">
<h3>${e.emptyFilter}</h3><p>${e.emptyFilterText}</p><button @click=${()=>this.filter={}}>${e.clearFilters}</button>
</div>`:l`<div class="state" part="state"><h3>${e.noToken}</h3><p>${e.noTokenText}</p></div>`}failureText(e){let{messages:t}=this.formats,s={expired:t.expired,offline:t.offline,busy:t.busy,forbidden:t.forbidden},n=e.kind==="expired",o=n?this.isWaiting?t.expiredWaiting:t.expiredText:e.kind==="offline"?t.offlineText:e.message,a=e.details.map(({field:d,message:c})=>l`<p><code>${d}</code> ${c}</p>`);return l`
<h3>${s[e.kind]??t.failed}</h3>
<p>${o}</p>
${a} ${e.requestId?l`<p class="mono">${t.requestId}: ${e.requestId}</p>`:h}
      ${n?h:l`<button @click=${()=>this.start()}>${t.retry}</button>`}
    `}list(e){let{messages:t}=this.formats,[s,n]=this.window(),o=Array.from({length:n-s},(c,u)=>s+u),a=mi(o,c=>c,c=>this.line(c,e.at(c))),d=[t.time,t.action,t.actor,t.target,...this.hasTenants?[t.tenant]:[]];return l`<div class="list">
${this.arrivedCount>0?l`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${t.newEvents(this.formats.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:h}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${t.events} aria-colcount=${d.length}
        aria-rowcount=${e.isComplete?e.length+1:-1}
        aria-activedescendant=${this.active>=s&&this.active<n?`row-${this.active}`:h}
        @scroll=${this.onScroll} @keydown=${this.onKey}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${d.map(c=>l`<div role="columnheader">${c}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${a}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${e.isComplete?t.endOfLog:this.isLoadingMore?t.loadingMore:h}</div>
      </div>
    </div>`}line(e,t){let s=`row-${e}`;if(!t)return l`<div class="line" role="row" id=${s} aria-rowindex=${e+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`;let n=t.id===this.opened?.id,o=["line",e===this.active?"active":"",n?"open":"",this.freshIds.has(t.id)?"fresh":""],{formats:a}=this,d=a.full(t.occurred_at),c=this.isAbsolute&&!this.isNarrow?a.absolute(t.occurred_at):a.relative(t.occurred_at,Date.now()),u=t.category??"system",p=a.messages.categories[u]??u;return l`<div class=${o.join(" ")} role="row" part="row" id=${s} aria-rowindex=${e+2} aria-selected=${n} @click=${()=>this.open(e)}>
<div role="gridcell" class="when"><time datetime=${t.occurred_at} title=${d}>${c}</time></div>
<div role="gridcell" class="action"><span class="dot ${u}" role="img" aria-label=${p} title=${p}></span><span>${t.action??"–"}</span></div>
<div role="gridcell" class="who" title=${t.actor?.id??""}>${t.actor?.name??t.actor?.id??"–"}</div>
<div role="gridcell" class="what secondary" title=${t.target?.id??""}>${t.target?.name??t.target?.id??"–"}</div>
${this.hasTenants?l`<div role="gridcell" class="tenant secondary">${t.tenant_id}</div>`:h}
    </div>`}foot(){let{messages:e}=this.formats,{pages:t,summary:s}=this,n=s?.total,o=t?.length??0,a=n??o,d=n===void 0&&!t?.isComplete?e.loadedCount(this.formats.number(o)):e.eventCount(this.formats.number(a),a===1);return l`<footer part="footer">
<span>${o>0||n!==void 0?d:h}</span>
<div class="tools">
${this.fragment?l`<button class="plain" @click=${()=>this.copyLink()}>${e.copyLink}</button>`:h}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?e.relativeTimes:e.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${e.utc}</button>
      </div>
    </footer>`}async copyLink(){await navigator.clipboard.writeText(this.link).catch(()=>{}),this.announcement=this.formats.messages.copied}onMenuFocus(e){e.currentTarget.contains(e.relatedTarget)||(this.isMenuOpen=!1)}onMenuKey(e){e.key==="Escape"&&(this.isMenuOpen=!1,e.currentTarget.querySelector("button")?.focus())}async save(e){this.isMenuOpen=!1,this.downloading?.abort();let t=new AbortController;this.downloading=t,this.downloadFailure="",this.downloaded=0;try{await fi(this.api,this.filter,e,s=>this.downloaded=s,t.signal)}catch(s){A(s)||(this.downloadFailure=x(s).message)}finally{this.downloaded=void 0}}onScroll(){this.grid?.scrollTop===0&&(this.arrivedCount=0),this.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.grid?.scrollTo({top:0}),this.grid?.focus()}onKey(e){let t=Math.max(1,Math.floor((this.grid?.clientHeight??400)/this.rowHeight)-2),n={ArrowDown:1,ArrowUp:-1,PageDown:t,PageUp:-t,Home:-1/0,End:1/0}[e.key];if(n!==void 0)this.moveTo(this.active+n);else if(e.key==="Enter"||e.key===" ")this.open(this.active,!0);else if(e.key==="Escape"&&this.opened)this.close();else return;e.preventDefault()}moveTo(e){let{grid:t,pages:s}=this;if(!t||!s)return;this.active=Math.max(0,Math.min(e,s.length-1));let n=this.active*this.rowHeight,o=this.isNarrow?0:30;n<t.scrollTop?t.scrollTop=n:n+this.rowHeight+o>t.scrollTop+t.clientHeight&&(t.scrollTop=n+this.rowHeight+o-t.clientHeight),this.opened&&!this.isNarrow&&this.open(this.active)}open(e,t=!1){let s=this.pages?.at(e);s&&(this.active=e,this.wanted=void 0,this.opened=s,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:s.id},bubbles:!0,composed:!0})),(t||this.isNarrow)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let e=this.renderRoot.querySelector("audit-log-event");await e?.updateComplete,e?.focus()}async openById(e){try{let{event:t}=await this.api.get(`/events/${e}`,{},this.loading.signal);this.wanted=void 0,this.opened=t}catch(t){if(A(t))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(e){this.moveTo(this.active+e),this.open(this.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid?.focus())}onDetailsKey(e){e.key==="Escape"&&this.close()}onFilterBy(e){this.isNarrow&&(this.opened=void 0),this.filter={...this.filter,[e.detail.field]:e.detail.value}}};function _i(){let r=[["audit-log-proof",De],["audit-log-event",Te],["audit-log-filters",Pe],["audit-log-histogram",Re],["audit-log-viewer",Ie]];for(let[i,e]of r)customElements.get(i)||customElements.define(i,e)}function Ms(r,i){let[e="",...t]=r.split("*");if(t.length===0)return r===i;if(!i.startsWith(e))return!1;let s=e.length,n=t.pop()??"";for(let o of t){let a=i.indexOf(o,s);if(a<0)return!1;s=a+o.length}return i.length-n.length>=s&&i.endsWith(n)}function Fs(r,i){let e=[...r].sort((n,o)=>n.received_at<o.received_at?-1:1),t=new Map,s={lookedAt:r.length,matching:0,alerts:[]};for(let n of e){if(!n.action||!Ms(i.action_pattern,n.action))continue;s.matching+=1;let o=i.group_by==="tenant_id"?n.tenant_id:n.actor?.id??"",a=i.group_by==="tenant_id"?o:`${n.tenant_id}
${o}`,d=Date.parse(n.occurred_at),c=t.get(a)??{times:[],quietUntil:-1/0};t.set(a,c),c.times=[...c.times.filter(u=>u>d-i.window_seconds*1e3),d],!(c.times.length<i.threshold||d<c.quietUntil)&&(s.alerts.unshift({group:o,at:n.occurred_at,count:c.times.length}),c.quietUntil=d+i.cooldown_seconds*1e3,c.times=[])}return s}async function Ei(r,i){let e=i.action_pattern.split("*")[0]??"",t=e===""?void 0:i.action_pattern===e?e:`${e}*`,s=[],n;do{let o=await r.get("/events",{action:t,limit:200,cursor:n});s.push(...o.events),n=o.cursor??void 0}while(n&&s.length<2e3);return Fs(s.slice(0,2e3),i)}var Ds=new Intl.DateTimeFormat(void 0,{dateStyle:"medium",timeStyle:"medium"});function k(r){return r?l`<time datetime=${r} title=${r}>${Ds.format(new Date(r))}</time>`:"–"}function $(r){r.preventDefault();let i={};for(let[e,t]of new FormData(r.target))typeof t=="string"&&t.trim()!==""&&(i[e]=t.trim());return i}function K(r){return(r??"").split(/[\n,]/).map(i=>i.trim()).filter(i=>i!=="")}var v=class extends w{static{this.properties={session:{attribute:!1},failure:{state:!0},notice:{state:!0},question:{state:!0},secret:{state:!0},typed:{state:!0},isBusy:{state:!0},isLoaded:{state:!0}}}static{this.styles=[_,b`
:host { display: block; padding: 16px 20px 40px; overflow: auto; min-height: 0; }
h2 { margin: 0 0 2px; font-size: 1.35em; } h3 { margin: 22px 0 8px; font-size: 1.05em; }
p { margin: 4px 0 10px; max-width: 80ch; }
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--border); border-radius: var(--radius); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 6px 10px; text-align: start; vertical-align: middle; border-bottom: 1px solid color-mix(in srgb, var(--border) 60%, transparent); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--surface); color: var(--muted); font-size: 0.88em; font-weight: 600; white-space: nowrap; }
td { overflow-wrap: anywhere; min-width: 60px; } td.actions { white-space: nowrap; text-align: end; } time { white-space: nowrap; }
tbody th { font-weight: 500; }
form.inline { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius);
background: var(--surface); margin: 8px 0 16px; }
label { display: flex; flex-direction: column; gap: 2px; color: var(--muted); font-size: 0.9em; min-width: 0; }
label > :is(input, select, textarea) { color: var(--text); font-size: var(--size); }
label.check { flex-direction: row; align-items: center; gap: 6px; color: var(--text); font-size: 1em; min-height: 30px; }
label.wide { flex: 1 1 260px; }
.badge { display: inline-block; padding: 0 8px; border-radius: 10px; background: var(--surface); border: 1px solid var(--border); font-size: 0.9em; white-space: nowrap; }
.badge.critical, .badge.failed, .badge.open { background: var(--bad-bg); color: var(--bad); border-color: transparent; }
.badge.high, .badge.pending, .badge.acknowledged { background: var(--warn-bg); color: var(--warn); border-color: transparent; }
.badge.delivered, .badge.resolved, .badge.on { background: var(--good-bg); color: var(--good); border-color: transparent; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 10px 0; }
.empty { padding: 24px; text-align: center; color: var(--muted); border: 1px dashed var(--border); border-radius: var(--radius); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(124px, 1fr)); gap: 10px; margin: 12px 0; }
.card { padding: 10px 14px; border: 1px solid var(--border); border-radius: var(--radius); background: var(--surface); }
.card b { display: block; font-size: 1.5em; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
pre { margin: 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border); border-radius: var(--radius);
white-space: pre-wrap; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 14px; }
dialog { width: min(520px, calc(100vw - 32px)); padding: 18px 20px; border: 1px solid var(--border); border-radius: 10px; background: var(--bg); color: var(--text); }
dialog::backdrop { background: rgb(0 0 0 / 0.45); } dialog h3 { margin-top: 0; }
dialog footer { display: flex; gap: 8px; justify-content: flex-end; margin-top: 16px; }
.notice { margin: 10px 0; } mark { background: var(--bad-bg); color: var(--bad); border-radius: 3px; padding: 0 2px; }
mark.after { background: var(--good-bg); color: var(--good); }
`]}constructor(){super(),this.notice="",this.typed="",this.isBusy=!1,this.isLoaded=!1}willUpdate(i){i.has("session")&&this.reload()}async reload(){this.isLoaded=!1,await this.attempt(()=>this.load()),this.isLoaded=!0}async attempt(i,e=""){this.isBusy=!0,this.failure=void 0,this.notice="";try{return await i(),this.notice=e,!0}catch(t){return A(t)||(this.failure=x(t),this.failure.kind==="expired"&&this.session.onEnded(this.failure)),!1}finally{this.isBusy=!1,this.requestUpdate()}}async change(i,e=""){return await this.attempt(i)?(await this.attempt(()=>this.load()),this.failure||(this.notice=e),!0):!1}ask(i){this.typed="",this.question=i,this.showDialog()}reveal(i,e){this.secret={title:i,value:e},this.showDialog()}async showDialog(){await this.updateComplete;let i=this.renderRoot.querySelector("dialog");i&&!i.open&&i.showModal()}closeDialog(){this.question=void 0,this.secret=void 0}render(){let{failure:i}=this;return l`
<h2>${this.heading}</h2>
<p class="muted">${this.text}</p>
${i?l`<div class="notice bad" role="alert">
            <b>${i.message}</b>
            ${i.details.map(({field:e,message:t})=>l`<span><code>${e}</code> ${t}</span>`)}
            ${i.requestId?l`<span class="mono">${i.requestId}</span>`:h}
            <button @click=${()=>this.reload()}>Try again</button>
          </div>`:h}
      <div role="status">${this.notice?l`<div class="notice good">${this.notice}</div>`:h}</div>
      ${this.isLoaded?this.content():l`<p class="spinner">Loading …</p>`} ${this.question?this.questionDialog(this.question):h}
      ${this.secret?this.secretDialog(this.secret):h}
    `}questionDialog({title:i,text:e,verb:t,typed:s,run:n}){return l`<dialog aria-labelledby="question" @close=${()=>this.closeDialog()}>
<form @submit=${async a=>{a.preventDefault(),this.closeDialog(),await this.change(n,`${i}: done.`)}}>
<h3 id="question">${i}</h3>
<p>${e}</p>
${s?l`<label>To confirm, type ${s}
              <input autocomplete="off" spellcheck="false" @input=${a=>this.typed=a.target.value} /></label>`:h}
        <footer>
          <button type="button" @click=${()=>this.closeDialog()}>Cancel</button>
          <button class="danger" ?disabled=${s!==void 0&&this.typed!==s}>${t}</button>
        </footer>
      </form>
    </dialog>`}secretDialog({title:i,value:e}){return l`<dialog aria-labelledby="secret" @close=${()=>this.closeDialog()}>
<h3 id="secret">${i}</h3>
<p>It is shown only now. The server cannot show it again.</p>
<pre tabindex="0">${e}</pre>
<footer>
<button @click=${async()=>{await navigator.clipboard.writeText(e).catch(()=>{}),this.notice="Copied."}}>Copy</button>
<button class="primary" @click=${()=>this.closeDialog()}>I have stored it</button>
</footer>
</dialog>`}table(i,e,t){return e.length===0?l`<div class="empty">${t}</div>`:l`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}>
<table>
<thead><tr>${i.map(s=>l`<th scope="col">${s||l`<span class="visually-hidden">Actions</span>`}</th>`)}</tr></thead>
        <tbody>${e}</tbody>
      </table>
    </div>`}masterOnly(){return this.session.isMaster?h:l`<p class="notice">Changes need a master key. You are signed in with a project key.</p>`}};var Ls=["threshold","window_seconds","cooldown_seconds"],Ue=class extends v{constructor(){super();this.heading="Alert rules";this.text="A rule counts events whose action matches its pattern, by actor or by tenant, and raises an alert at its threshold. Of a built-in rule only the switch and the cooldown change.";this.rules=[],this.draft={}}static{this.properties={rules:{state:!0},preview:{state:!0},draft:{state:!0}}}async load(){this.rules=(await this.session.api.get("/alerts/rules")).rules}amend(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/rules/${e.id}`,t),`${e.name}: changed.`)}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"The rule stops at once. Alerts that it has raised stay. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/alerts/rules/${e.id}`)})}async show(e,t){this.preview=void 0,await this.attempt(async()=>{this.preview={name:t,result:await Ei(this.session.api,e)}})}async onSubmit(e){let t=$(e);for(let u of Ls)u in t&&(t[u]=Number(t[u]));if(e.submitter?.value==="preview")return this.show(t,"this rule");let{id:n,type:o}=this.draft,a=o==="builtin"?{cooldown_seconds:t.cooldown_seconds}:t,{api:d}=this.session,c=()=>n?d.send("PATCH",`/alerts/rules/${n}`,a):d.send("POST","/alerts/rules",a);await this.change(c,`${String(t.name)}: stored.`)&&(this.draft={})}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>l`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${n=>this.amend(s,{enabled:n.target.checked})} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?l`<span class="badge">built-in</span>`:h}</th>
      <td><code>${s.action_pattern}</code></td>
      <td>${s.threshold} in ${s.window_seconds} s by ${s.group_by==="tenant_id"?"tenant":"actor"}</td>
      <td><span class="badge ${s.severity}">${s.severity}</span></td>
      <td>${s.cooldown_seconds} s</td>
      <td class="actions">
        <button @click=${()=>this.show(s,s.name)}>Preview</button>
        ${e?l`<button @click=${()=>this.draft=s}>Edit</button>`:h}
        ${e&&s.type==="custom"?l`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:h}
      </td>
    </tr>`);return l`${this.masterOnly()} ${this.table(["On","Rule","Action","Fires at","Severity","Cooldown",""],t,"No rules.")}
${this.preview?this.previewOf(this.preview.name,this.preview.result):h} ${e?this.form():h}`}previewOf(e,{lookedAt:t,matching:s,alerts:n}){let o=n.slice(0,20).map(a=>l`<tr><td>${a.group}</td><td>${a.count}</td><td>${k(a.at)}</td></tr>`);return l`<h3>Preview of ${e}</h3>
<p>Among the newest ${t} events with this action (at most ${2e3}), ${s} match. The rule would have raised <b>${n.length}</b> alerts. The preview counts by the time of the events; the server also leaves out events that arrive later than the window.</p>
${this.table(["Actor or tenant","Events","Time"],o,"It would have raised no alert.")}`}form(){let{draft:e}=this,t=e.type==="builtin",s=(o,a,d,c,u={})=>l`<label>
${a}<input name=${o} type=${d} required ?disabled=${t&&o!=="cooldown_seconds"} min=${u.min??h} max=${u.max??h} .value=${String(e[o]??c)} />
</label>`,n=(o,a,d)=>l`<label>
${a}<select name=${o} ?disabled=${t}>${d.map(c=>l`<option .selected=${e[o]===c}>${c}</option>`)}</select>
    </label>`;return l`<h3>${e.id?`Edit ${e.name??""}`:"New rule"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${s("name","Name","text","")} ${s("action_pattern","Action pattern","text","*.deleted")}
        ${s("threshold","Threshold","number",5,{min:1,max:1e4})} ${s("window_seconds","Window, seconds","number",300,{min:60,max:3600})}
        ${n("group_by","Count by",["actor_id","tenant_id"])} ${n("severity","Severity",["low","medium","high","critical"])}
        ${s("cooldown_seconds","Cooldown, seconds","number",3600,{min:0,max:604800})}
        <button class="primary" value="store">${e.id?"Store changes":"Create rule"}</button>
        ${t?h:l`<button value="preview">Preview</button>`}
        ${e.id?l`<button type="button" class="plain" @click=${()=>this.draft={}}>Cancel</button>`:h}
      </form>`}};var He=class extends v{constructor(){super();this.cursor=null;this.heading="Alerts";this.text="Raised by the alert rules. An alert is open until somebody acknowledges or resolves it; it never becomes open again.";this.status="open",this.severity="",this.alerts=[]}static{this.properties={status:{state:!0},severity:{state:!0},alerts:{state:!0}}}read(e){return this.session.api.get("/alerts",{status:this.status,severity:this.severity,cursor:e})}async load(){let e=await this.read();this.alerts=e.alerts,this.cursor=e.cursor}async more(){await this.attempt(async()=>{let e=await this.read(this.cursor??void 0);this.alerts=[...this.alerts,...e.alerts],this.cursor=e.cursor})}set(e,t){this.change(()=>this.session.api.send("PATCH",`/alerts/${e.id}`,{status:t}),`${e.rule_name}: ${t}.`)}select(e,t,s,n){return l`<label>${e}<select @change=${a=>{n(a.target.value),this.reload()}}>
<option value="" .selected=${t===""}>all</option>
${s.map(a=>l`<option .selected=${a===t}>${a}</option>`)}
    </select></label>`}content(){let e=this.alerts.map(t=>l`<tr>
<td><span class="badge ${t.severity}">${t.severity}</span></td>
<th scope="row">${t.rule_name}</th>
<td>${t.group_key}</td>
<td>${t.event_count}: ${t.sample_event_ids.slice(0,3).map((s,n)=>l`<a href="#/events?event=${s}">event ${n+1}</a> `)}</td>
      <td>${k(t.fired_at)}</td>
      <td><span class="badge ${t.status}">${t.status}</span></td>
      <td class="actions">
        ${t.status==="open"?l`<button @click=${()=>this.set(t,"acknowledged")}>Acknowledge</button>`:h}
        ${t.status!=="resolved"?l`<button @click=${()=>this.set(t,"resolved")}>Resolve</button>`:h}
      </td>
    </tr>`);return l`
<div class="bar">
${this.select("Status",this.status,["open","acknowledged","resolved"],t=>this.status=t)}
${this.select("Severity",this.severity,["critical","high","medium","low"],t=>this.severity=t)}
</div>
${this.table(["Severity","Rule","Actor or tenant","Events","Fired","Status",""],e,"No alerts with this status.")}
${this.cursor?l`<p><button @click=${()=>this.more()}>Show older alerts</button></p>`:h}
    `}};var js=["events:write","events:read","alerts","viewer-tokens","admin"],Is=86400,ze=class extends v{constructor(){super();this.heading="Projects and keys";this.text="A project key acts on one project in one environment. A key is shown once, when it is created; the server stores its hash.";this.keys=[],this.masters=[],this.isRevokedShown=!1}static{this.properties={keys:{state:!0},masters:{state:!0},isRevokedShown:{state:!0}}}async load(){let{api:e,isMaster:t}=this.session;this.keys=(await e.get("/keys")).keys,t&&(this.masters=(await e.get("/master-keys")).master_keys)}revoke(e,t){this.ask({title:`Revoke the key “${e.name}”`,verb:"Revoke",typed:e.name,text:`Every request with ${e.prefix}… is refused from now on. This cannot be undone. Last used: ${e.lastUsedAt??"never"}.`,run:()=>this.session.api.send("DELETE",`${t}/${e.id}`)})}rotate(e,t){this.ask({title:`Replace the key “${e.name}”`,verb:"Replace",text:"A new key with the same limits is created. The old one ends in 24 hours.",run:async()=>{let{key:s}=await this.session.api.send("POST",`${t}/${e.id}/rotate`,void 0,{overlap:Is});this.reveal(`The key that replaces “${e.name}”`,s)}})}async create(e,t){let s=e.target,{networks:n,expires_at:o,...a}=$(e),d=new FormData(s).getAll("scopes"),{scopes:c,...u}=a,p={...u,...t==="/keys"?{type:"project",project_id:this.session.project?.id}:{},...d.length>0?{scopes:d}:{},...n?{networks:K(n)}:{},...o?{expires_at:new Date(o).toISOString()}:{}},g=async()=>{let{key:m}=await this.session.api.send("POST",t,p);this.reveal(`The key “${a.name??""}”`,m)};await this.change(g)&&s.reset()}async createProject(e){let t=e.target,s=$(e),n=async()=>{let{project:o}=await this.session.api.send("POST","/projects",s);this.dispatchEvent(new CustomEvent("project-created",{detail:o,bubbles:!0,composed:!0}))};await this.attempt(n,`Project ${s.name??""} created. It has no keys yet.`)&&t.reset()}rows(e,t){return e.filter(n=>this.isRevokedShown||!n.revokedAt).map(n=>l`<tr>
<th scope="row">${n.name}</th>
<td><code>${n.prefix}…</code></td>
<td>${n.environment??"all projects"}</td>
<td>${n.scopes?.join(", ")??"everything"}${n.networks?l`<br /><span class="muted">from ${n.networks.join(", ")}</span>`:h}</td>
      <td>${k(n.lastUsedAt)}${n.lastUsedFrom?l`<br /><span class="muted">${n.lastUsedFrom}</span>`:h}</td>
      <td>${n.revokedAt?l`<span class="badge failed">revoked</span>`:n.expiresAt?l`until ${k(n.expiresAt)}`:"no end"}</td>
      <td class="actions">
        ${n.revokedAt?h:l`
${this.session.isMaster?l`<button @click=${()=>this.rotate(n,t)}>Replace</button>`:h}
          <button class="danger" @click=${()=>this.revoke(n,t)}>Revoke</button>`}
      </td>
    </tr>`)}content(){let e=["Name","Key","Environment","May","Last used","Ends",""],{isMaster:t,project:s,projects:n}=this.session,o=this.keys.filter(a=>!s||a.project_id===s.id);return l`
<label class="check"><input type="checkbox" .checked=${this.isRevokedShown} @change=${()=>this.isRevokedShown=!this.isRevokedShown} /> Show revoked keys</label>
<h3>Keys of the project ${s?.name??""}</h3>
${this.table(e,this.rows(o,"/keys"),"No keys.")}
${t?this.form("/keys","Create project key"):this.masterOnly()}
${t?l`<h3>Projects</h3>
            ${this.table(["Name","ID","Created"],n.map(({id:a,name:d,created_at:c})=>l`<tr><th scope="row">${d}</th><td><code>${a}</code></td><td>${k(c)}</td></tr>`),"No projects.")}
            <form class="inline" @submit=${this.createProject}>
              <label class="wide">New project: name<input name="name" required maxlength="100" /></label><button class="primary">Create project</button>
            </form>
            <h3>Master keys</h3>
            <p class="muted">A master key administers every project of the organization.</p>
            ${this.table(e,this.rows(this.masters,"/master-keys"),"No master keys.")} ${this.form("/master-keys","Create master key")}`:h}
    `}form(e,t){return l`<form class="inline" @submit=${s=>this.create(s,e)}>
<label>Name<input name="name" required maxlength="100" /></label>
${e==="/keys"?l`<label>Environment<select name="environment"><option>live</option><option>test</option></select></label>`:h}
      <label>Ends<input name="expires_at" type="datetime-local" /></label>
      <label>Networks<input name="networks" placeholder="10.0.0.0/8" /></label>
      ${js.map(s=>l`<label class="check"><input type="checkbox" name="scopes" value=${s} />${s}</label>`)}
      <button class="primary">${t}</button>
      <span class="muted">Without a scope, a key may do everything of its kind.</span>
    </form>`}};var Be=class extends v{constructor(){super();this.note="";this.key="";this.rotations="";this.heading="The verifiable log";this.text="Every event is a leaf of a Merkle tree, and its root is signed within a second. Store a checkpoint and the key outside of this server: whoever has them can prove every later change.";this.checked={text:"",isGood:!1}}static{this.properties={checked:{state:!0},earlier:{state:!0}}}async load(){let{api:e}=this.session;this.earlier=void 0,[this.note,this.key,this.rotations]=await Promise.all([e.text("/log/checkpoint"),e.text("/log/key"),e.text("/log/key/rotations")]);try{this.checkpoint=await ie(this.note,this.key),this.checked={text:"The signature was verified in this browser, with the key below.",isGood:!0}}catch(t){this.checkpoint=void 0,this.checked={text:`The signature was not verified: ${t instanceof Error?t.message:String(t)}`,isGood:!1}}}async compare(e){let{earlier:t="",key:s=""}=$(e);await this.attempt(async()=>{try{this.earlier=await this.continuity(`${t.trimEnd()}
`,s||this.key)}catch(n){this.earlier={text:n instanceof Error?n.message:String(n),isGood:!1}}})}async continuity(e,t){let s=await ie(e,t),n=this.checkpoint;if(!n)return{text:"The present checkpoint is not verified.",isGood:!1};if(s.origin!==n.origin)return{text:`The checkpoint is one of another log: ${s.origin}`,isGood:!1};if(s.size>n.size)return{text:`The log had ${s.size} events and has ${n.size} now: events were removed.`,isGood:!1};let{consistency:o}=await this.session.api.get("/log/consistency",{from:s.size,to:n.size});return await mt({from:s,to:n,hashes:Me(o,"the consistency proof")}),{text:`The log continues this checkpoint: its ${s.size} events are unchanged, and ${n.size-s.size} were added.`,isGood:!0}}async evidence(){await this.attempt(async()=>{let t=await(await this.session.api.fetch("GET","/events/export")).blob();ue(t,"events.jsonl"),ue(new Blob([this.note],{type:"text/plain"}),"checkpoint.txt"),ue(new Blob([this.key],{type:"text/plain"}),"key.txt")},"Saved: events.jsonl, checkpoint.txt, key.txt. A self-contained archive with a proof of each event is made by `audit-server log export`.")}content(){let{checkpoint:e,checked:t,earlier:s}=this,n=({text:o,isGood:a})=>l`<div class="notice ${a?"good":"bad"}" role=${a?"status":"alert"}>${a?"✓":"✗"} ${o}</div>`;return l`
${n(t)}
${e?l`<div class="cards">
            <div class="card"><b>${new Intl.NumberFormat().format(e.size)}</b><span class="muted">events</span></div>
          </div>
          <p>Root <code>${pe(e.root)}</code><br />Log <code>${e.origin}</code></p>`:h}
      <h3>Checkpoint</h3><pre tabindex="0">${this.note}</pre>
      <h3>Key</h3><pre tabindex="0">${this.key}</pre>
      ${this.rotations.trim()?l`<h3>Rotations of the key</h3><pre tabindex="0">${this.rotations}</pre>`:h}
      <div class="bar"><button @click=${()=>this.reload()}>Read again</button><button @click=${()=>this.evidence()}>Download events, checkpoint and key</button></div>
      <h3>Does the log continue an earlier checkpoint?</h3>
      <form class="inline" @submit=${this.compare}>
        <label class="wide">Earlier checkpoint<textarea name="earlier" rows="6" required spellcheck="false"></textarea></label>
        <label class="wide">Key that you stored (empty: the one above)<input name="key" spellcheck="false" /></label>
        <button class="primary">Verify in this browser</button>
      </form>
      ${s?n(s):h}
    `}};var bt=30,wt=new Intl.NumberFormat,Ve=class extends v{constructor(){super(...arguments);this.heading="Overview";this.text=`The last ${bt} days of this project, and the state of the server.`;this.openAlerts="";this.readiness="";this.gauges={};this.formats=new W(navigator.language,re,!1)}static{this.properties={}}static{this.styles=[v.styles,b`.chart { margin: 12px 0; padding: 12px; border: 1px solid var(--border); border-radius: var(--radius); }`]}async load(){let{api:e}=this.session,t=new Date(Date.now()-bt*864e5).toISOString(),[s,n,o,a,d]=await Promise.all([e.get("/events/summary",{start_date:t,interval:"day",split:"category"}).catch(()=>{}),e.get("/alerts",{status:"open",limit:100}),e.text("/log/checkpoint"),fetch("/readyz",{cache:"no-store"}).then(u=>u.ok,()=>!1),fetch("/metrics",{cache:"no-store"}).then(u=>u.ok?u.text():"",()=>"")]);this.summary=s,this.openAlerts=`${n.alerts.length}${n.has_more?"+":""}`,this.logSize=Number(o.split(`
`)[1]),this.readiness=a?"ready":"not ready";let c=u=>{let p=new RegExp(`^${u} (\\S+)$`,"m").exec(d)?.[1];return p===void 0?void 0:Number(p)};this.gauges={pendingDeliveries:c("audit_webhook_deliveries_pending"),queueDepth:c("audit_store_queue_depth"),toRebuild:c("audit_store_events_to_rebuild")}}card(e,t,s){if(t===void 0)return h;let n=s?l`<a href=${s}>${e}</a>`:l`<span class="muted">${e}</span>`;return l`<div class="card"><b>${typeof t=="number"?wt.format(t):t}</b>${n}</div>`}content(){let{summary:e,gauges:t}=this,s=P.map(n=>[n,e?.buckets.reduce((o,a)=>o+(a.categories?.[n]??0),0)??0]);return l`
<div class="cards">
${this.card(`events in ${bt} days`,e?.total,"#/events")} ${this.card("events in the log",this.logSize,"#/log")}
        ${this.card("open alerts",this.openAlerts,"#/alerts")} ${this.card("server",this.readiness)}
        ${this.card("deliveries pending, all projects",t.pendingDeliveries,"#/webhooks")}
        ${this.card("requests in the write queue",t.queueDepth)} ${this.card("events to index again",t.toRebuild)}
      </div>
      ${e?l`<h3>Events per day</h3>
<div class="chart"><audit-log-histogram .summary=${e} .formats=${this.formats} @zoom=${this.onZoom}></audit-log-histogram></div>
<h3>By category</h3>
<div class="cards">${s.map(([n,o])=>this.card(re.categories[n]??n,o,`#/events?category=${n}`))}</div>
            ${this.top("Most frequent actions","action",e)} ${this.top("Most active actors","actor_id",e)}
            ${this.top("Tenants","tenant_id",e)}`:h}
    `}onZoom(e){location.hash=`#/events?${new URLSearchParams({start_date:e.detail.start,end_date:e.detail.end})}`}top(e,t,{top:s}){let n=(s[t]??[]).slice(0,8).map(({value:o,count:a})=>l`<tr><td><a href="#/events?${new URLSearchParams({[t]:o})}">${o}</a></td><td>${wt.format(a)}</td></tr>`);return l`<h3>${e}</h3><p class="muted">Among the newest ${wt.format(s.looked_at)} events.</p>${this.table(["Value","Events"],n,"None.")}`}};var Ai=["replace","hash","mask"],Us=300,Hs={action:"user.created",tenant_id:"acme",actor:{id:"user_1",type:"user",name:"Jane Doe",email:"jane@example.com"},metadata:{note:"paid with 4111 1111 1111 1111, call +1 415 555 0132",header:"Bearer abcdef123456",ok:"fine"}},Je=class extends v{constructor(){super();this.event=F(Hs);this.heading="Redaction";this.text="Rules remove personal data and secrets before an event is stored. A change applies to the next request; stored events do not change.";this.rules=[],this.fault="",this.type="pattern"}static{this.properties={rules:{state:!0},tested:{state:!0},fault:{state:!0},type:{state:!0}}}async load(){this.rules=(await this.session.api.get("/redaction/rules")).rules,await this.test()}onInput(e){this.event=e.target.value,clearTimeout(this.typing),this.typing=setTimeout(()=>{this.test()},Us)}async test(){let e;try{e=JSON.parse(this.event)}catch(t){this.fault=t instanceof Error?t.message:"not JSON";return}this.fault="",await this.attempt(async()=>{this.tested=await this.session.api.send("POST","/redaction/test",{event:e})})}amend(e,t){this.change(()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,t),`${e.name}: changed.`)}toggle(e,t){if(t.checked)return this.amend(e,{enabled:!0});t.checked=!0,this.ask({title:`Switch off the rule “${e.name}”`,verb:"Switch off",text:"From the next request on, what this rule finds is stored as it was sent, and it cannot be removed from the log later.",run:()=>this.session.api.send("PUT",`/redaction/rules/${e.id}`,{enabled:!1})})}confirmRemoval(e){this.ask({title:`Delete the rule “${e.name}”`,verb:"Delete",text:"From the next request on, what this rule finds is stored as it was sent. The rule cannot be restored.",run:()=>this.session.api.send("DELETE",`/redaction/rules/${e.id}`)})}async onSubmit(e){let t=e.target,{fields:s,...n}=$(e),o=n.type==="field_redact"?{...n,fields:K(s)}:n;await this.change(()=>this.session.api.send("POST","/redaction/rules",o),`${n.name??""}: created.`)&&t.reset()}content(){let{isMaster:e}=this.session,t=this.rules.map(s=>l`<tr>
<td><input type="checkbox" aria-label="${s.name} enabled" .checked=${s.enabled} ?disabled=${!e}
@change=${n=>this.toggle(s,n.target)} /></td>
<th scope="row">${s.name} ${s.type==="builtin"?l`<span class="badge">built-in</span>`:h}</th>
      <td><code>${s.pattern??s.fields?.join(", ")??""}</code></td>
      <td><select aria-label="Behavior of ${s.name}" ?disabled=${!e} @change=${n=>this.amend(s,{behavior:n.target.value})}>
        ${Ai.map(n=>l`<option .selected=${n===s.behavior}>${n}</option>`)}</select></td>
      <td class="actions">${e&&s.type!=="builtin"?l`<button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button>`:h}</td>
    </tr>`);return l`${this.masterOnly()} ${this.tester()}
<h3>Rules</h3>${this.table(["On","Rule","Finds","Behavior",""],t,"No rules.")} ${e?this.form():h}`}tester(){let{tested:e}=this;return l`<h3>Try an event</h3>
<div class="columns">
<label>Event (nothing is stored)<textarea rows="14" spellcheck="false" maxlength="65536" .value=${this.event} @input=${this.onInput}></textarea></label>
<div>
<span class="muted">What the rules change: <mark>removed</mark> → <mark class="after">stored</mark></span>
${this.fault?l`<p class="notice bad">${this.fault}</p>`:h}
          ${e?.metadata.was_redacted?l`<div class="scroll"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Sent</th><th scope="col">Stored</th></tr></thead>
<tbody>${Pi(e.original,e.redacted).map(([t,s,n])=>l`<tr><th scope="row"><code>${t}</code></th><td>${Si(s,n,"removed")}</td><td>${Si(n,s,"after")}</td></tr>`)}</tbody>
                </table></div>
                <p class="muted">${e.metadata.redacted_rules.join(", ")} · ${e.metadata.rules_evaluated} rules</p>`:e?l`<p>Nothing is removed from this event.</p>`:h}
        </div>
      </div>`}form(){return l`<h3>New rule</h3>
<form class="inline" @submit=${this.onSubmit}>
<label>Type<select name="type" @change=${e=>this.type=e.target.value}>
<option value="pattern">pattern</option><option value="field_redact">fields</option></select></label>
<label>Name<input name="name" required maxlength="100" /></label>
${this.type==="pattern"?l`<label class="wide">Pattern (regular expression)<input name="pattern" required maxlength="1000" spellcheck="false" /></label>`:l`<label class="wide">Paths, separated by commas<input name="fields" required placeholder="metadata.*.ssn, actor.email" spellcheck="false" /></label>`}
        <label>Behavior<select name="behavior">${Ai.map(e=>l`<option>${e}</option>`)}</select></label>
        <button class="primary">Create rule</button>
      </form>`}};function Pi(r,i,e=""){let t=n=>typeof n=="object"&&n!==null&&!Array.isArray(n);return!t(r)||!t(i)?[[e,Ti(r),Ti(i)]]:[...new Set([...Object.keys(r),...Object.keys(i)])].flatMap(n=>Pi(r[n],i[n],e?`${e}.${n}`:n))}function Ti(r){return r===void 0?"":typeof r=="string"?r:F(r)}function Si(r,i,e){let t=0;for(;t<r.length&&r[t]===i[t];)t+=1;let s=0;for(;s<r.length-t&&s<i.length-t&&r.at(-1-s)===i.at(-1-s);)s+=1;let n=r.slice(t,r.length-s);return l`${r.slice(0,t)}${n?l`<mark class=${e}>${n}</mark>`:h}${r.slice(r.length-s)}`}var qe=class extends v{constructor(){super(...arguments);this.heading="Streams";this.text="A client without an account sends events to a stream, which its token names. A claim moves them into this project."}static{this.properties={info:{state:!0},token:{state:!0}}}load(){return Promise.resolve()}async look(e){this.token=$(e).token??"",this.info=void 0,await this.attempt(async()=>{this.info=await this.session.api.get(`/streams/${encodeURIComponent(this.token)}/info`)})}claim(){let{token:e}=this;this.ask({title:"Claim the stream",verb:"Claim",text:`Its ${this.info?.event_count??0} events move into the project ${this.session.project?.name??""}, redacted by its rules. The token can never be used again.`,run:async()=>{await this.session.api.send("POST","/streams/claim",{claim_token:e}),this.info=void 0}})}content(){if(!this.session.isMaster)return l`<p class="notice">Claiming needs a master key.</p>`;let{info:e}=this;return l`<form class="inline" @submit=${this.look}>
<label class="wide">Token of the stream<input name="token" required pattern="[0-9a-fA-F\\-]{36}" placeholder="4ab83020-1741-43cc-9dd1-29bbef9bdf1c" /></label>
<button class="primary">Look up</button>
</form>
${e?l`<p>${e.event_count} events, ${e.status}, created ${k(e.created_at)}, ends ${k(e.expires_at)}</p>
            <button class="primary" ?disabled=${e.status!=="active"} @click=${()=>this.claim()}>Claim into this project</button>`:""}`}};var Ri=["event","feed","export","proofs"],zs=600,We=class extends v{constructor(){super();this.heading="Viewer tiers";this.text="A tier decides which events and which of their fields a viewer token shows. A change applies at once, also to tokens that were issued.";this.tiers=[]}static{this.properties={tiers:{state:!0},draft:{state:!0},seen:{state:!0}}}async load(){this.session.isMaster&&(this.tiers=(await this.session.api.get("/viewer-tiers")).viewer_tiers)}async onSubmit(e){let t=e.target,s=$(e),n=new FormData(t),o=(g,m)=>n.getAll(g).length===m.length?null:n.getAll(g),a=K(s.actions),d={categories:o("categories",P),actions:a.length>0?a:null,hidden_fields:K(s.hidden_fields),...n.getAll("routes").length===Ri.length?{}:{routes:n.getAll("routes")}},{api:c}=this.session,{draft:u}=this,p=()=>u?c.send("PATCH",`/viewer-tiers/${u.name}`,d):c.send("POST","/viewer-tiers",{name:s.name,...d});await this.change(p,"The tier was stored.")&&(this.draft=void 0)}confirmRemoval(e){this.ask({title:`Delete the tier “${e.name}”`,verb:"Delete",typed:e.name,text:"All viewer tokens of this tier stop working at once, and new ones cannot be made. This cannot be undone.",run:()=>this.session.api.send("DELETE",`/viewer-tiers/${e.name}`)})}async see(e){let{tenant_id:t="",tier:s=""}=$(e);await this.attempt(async()=>{let n={tenant_id:t,...s?{tier:s}:{},expires_in:zs},{token:o}=await this.session.api.send("POST","/viewer-tokens",n);this.seen={token:o,tenant:t,tier:s||"standard"}})}content(){return l`${this.session.isMaster?this.administration():this.lookAs()}`}lookAs(){return l`<p class="notice">Tiers are changed with a master key. With a live project key, you can see what a tenant sees.</p>
<form class="inline" @submit=${this.see}>
<label>Tenant<input name="tenant_id" required maxlength="256" /></label>
<label>Tier<input name="tier" placeholder="standard" maxlength="64" /></label>
<button class="primary">See as this tenant</button>
</form>
${this.seen?l`<h3>As tenant ${this.seen.tenant}, tier ${this.seen.tier}</h3>
            <div class="scroll"><audit-log-viewer .token=${this.seen.token} lang="en"></audit-log-viewer></div>`:h}`}administration(){let e=(s,n)=>s===null?n:s.length>0?s.join(", "):"none",t=this.tiers.map(s=>l`<tr>
<th scope="row">${s.name}</th><td>${e(s.categories,"all")}</td><td>${e(s.actions,"all")}</td>
<td>${e(s.hidden_fields,"")}</td><td>${e(s.routes,"all")}</td>
<td class="actions"><button @click=${()=>this.draft=s}>Edit</button> <button class="danger" @click=${()=>this.confirmRemoval(s)}>Delete</button></td>
</tr>`);return l`${this.table(["Tier","Categories","Actions","Hidden fields","Reads",""],t,"No tiers.")} ${this.form()}
<p class="muted">To see the log as a tenant, sign in with a live project key: only such a key can issue viewer tokens.</p>`}form(){let{draft:e}=this,t=(s,n)=>n.map(o=>l`<label class="check"><input type="checkbox" name=${s} value=${o} .checked=${e?.[s]?.includes(o)??!0} />${o}</label>`);return l`<h3>${e?`Edit ${e.name}`:"New tier"}</h3>
      <form class="inline" @submit=${this.onSubmit}>
        ${e?h:l`<label>Name<input name="name" required maxlength="64" pattern="[a-z0-9_\\-]+" /></label>`}
        <label class="wide">Hidden fields<input name="hidden_fields" .value=${e?.hidden_fields.join(", ")??""} placeholder="context, metadata, actor.email" /></label>
        <label class="wide">Actions (empty: all)<input name="actions" .value=${e?.actions?.join(", ")??""} placeholder="auth.*, document.*" /></label>
        ${t("categories",P)} <span class="muted">reads</span> ${t("routes",Ri)}
        <button class="primary">${e?"Store changes":"Create tier"}</button>
        ${e?l`<button type="button" class="plain" @click=${()=>this.draft=void 0}>Cancel</button>`:h}
      </form>`}};var Ke=class extends v{constructor(){super();this.cursor=null;this.heading="Webhooks";this.text="Each live alert is sent to every enabled webhook as a signed message, with retries.";this.webhooks=[],this.deliveries=[]}static{this.properties={webhooks:{state:!0},opened:{state:!0},deliveries:{state:!0}}}async load(){this.session.isMaster&&(this.webhooks=(await this.session.api.get("/alerts/webhooks")).webhooks,this.opened=this.webhooks.find(({id:e})=>e===this.opened?.id),this.opened&&await this.readDeliveries(this.opened))}async readDeliveries(e,t){let s=await this.session.api.get(`/alerts/webhooks/${e.id}/deliveries`,{cursor:t});this.deliveries=t?[...this.deliveries,...s.deliveries]:s.deliveries,this.cursor=s.cursor,this.opened=e}async onSubmit(e){let t=e.target,s=$(e),n=async()=>{let{webhook:o}=await this.session.api.send("POST","/alerts/webhooks",s);this.reveal("Secret of the new webhook",o.secret)};await this.change(n,"The webhook was created.")&&t.reset()}rotate(e){this.ask({title:"Rotate the secret",verb:"Rotate",text:`A new secret signs messages to ${e.url}. The old one also signs for 24 hours: give the new one to the receiver until then.`,run:async()=>{let t=await this.session.api.send("POST",`/alerts/webhooks/${e.id}/rotate-secret`);this.reveal("New secret of the webhook",t.webhook.secret)}})}confirmRemoval(e){this.ask({title:"Delete the webhook",verb:"Delete",text:`Nothing more is sent to ${e.url}. Its deliveries, pending ones included, are deleted too.`,run:()=>this.session.api.send("DELETE",`/alerts/webhooks/${e.id}`)})}toggle(e){let{enabled:t}=e;this.change(()=>this.session.api.send("PATCH",`/alerts/webhooks/${e.id}`,{enabled:!t}),t?"Disabled. Pending deliveries wait.":"Enabled.")}test(e){this.change(async()=>{await this.session.api.send("POST",`/alerts/webhooks/${e.id}/test`),this.opened=e},"A test message is queued. Refresh the deliveries to see its result.")}content(){if(!this.session.isMaster)return l`<p class="notice">Webhooks need a master key.</p>`;let e=this.webhooks.map(t=>l`<tr>
<td><span class="badge ${t.enabled?"on":""}">${t.enabled?"enabled":"disabled"}</span></td>
<th scope="row">${t.url}</th>
<td>${k(t.created_at)}</td>
<td class="actions">
<button @click=${()=>this.attempt(()=>this.readDeliveries(t))}>Deliveries</button>
<button ?disabled=${!t.enabled} @click=${()=>this.test(t)}>Test</button>
<button @click=${()=>this.toggle(t)}>${t.enabled?"Disable":"Enable"}</button>
<button @click=${()=>this.rotate(t)}>Rotate secret</button>
<button class="danger" @click=${()=>this.confirmRemoval(t)}>Delete</button>
</td>
</tr>`);return l`${this.table(["State","URL","Created",""],e,"No webhooks yet.")}
<form class="inline" @submit=${this.onSubmit}>
<label class="wide">New webhook: URL<input name="url" type="url" required maxlength="2048" placeholder="https://example.com/alerts" /></label>
<button class="primary">Create webhook</button>
</form>
${this.opened?this.deliveryTable(this.opened):h}`}deliveryTable(e){let t=o=>{this.change(()=>this.session.api.send("POST",`/alerts/deliveries/${o.id}/retry`),"An attempt is made now.")},s=({number:o,status_code:a,error:d,duration_ms:c,started_at:u})=>l`<div title=${u}>${o}. ${a??d??"–"} <span class="muted">${c} ms</span></div>`,n=this.deliveries.map(o=>l`<tr>
<td><span class="badge ${o.status}">${o.status}</span></td>
<th scope="row">${o.type}</th>
<td>${k(o.created_at)}</td>
<td>${o.attempts.length>0?o.attempts.map(s):"none yet"}</td>
<td>${k(o.next_attempt_at)}</td>
<td class="actions"><button @click=${()=>t(o)}>Retry</button></td>
</tr>`);return l`<h3>Deliveries to ${e.url}</h3>
<div class="bar"><button @click=${()=>this.attempt(()=>this.readDeliveries(e))}>Refresh</button></div>
${this.table(["Status","Message","Created","Attempts","Next attempt",""],n,"Nothing was sent yet.")}
${this.cursor?l`<p><button @click=${()=>this.attempt(()=>this.readDeliveries(e,this.cursor??void 0))}>Show older deliveries</button></p>`:h}`}};var me=class r{constructor(i,e,t,s,n){this.key=i;this.projects=e;this.project=t;this.environment=s;this.onEnded=n;this.api=new D({baseUrl:"",credential:i,projectId:t?.id,environment:s})}get isMaster(){return this.key.startsWith("mk_")}with(i){let{projects:e,project:t,environment:s}={...this,...i};return new r(this.key,e,t,s,this.onEnded)}};var Ge=[{path:"overview",label:"Overview",content:r=>l`<console-overview .session=${r}></console-overview>`},{path:"events",label:"Events",content:Bs},{path:"alerts",label:"Alerts",content:r=>l`<console-alerts .session=${r}></console-alerts>`},{path:"rules",label:"Alert rules",content:r=>l`<console-rules .session=${r}></console-rules>`},{path:"webhooks",label:"Webhooks",content:r=>l`<console-webhooks .session=${r}></console-webhooks>`},{path:"redaction",label:"Redaction",content:r=>l`<console-redaction .session=${r}></console-redaction>`},{path:"tiers",label:"Viewer tiers",content:r=>l`<console-tiers .session=${r}></console-tiers>`},{path:"keys",label:"Projects and keys",content:r=>l`<console-keys .session=${r}></console-keys>`},{path:"streams",label:"Streams",content:r=>l`<console-streams .session=${r}></console-streams>`},{path:"log",label:"Verifiable log",content:r=>l`<console-log .session=${r}></console-log>`}];function Bs(r){let[,i=""]=location.hash.split("?"),{filter:e,event:t}=X(i),{key:s,project:n,environment:o}=r;return l`<audit-log-viewer lang="en" .token=${s} .projectId=${n?.id} .environment=${o} .filter=${Vs(e)} .wanted=${t}></audit-log-viewer>`}var $t={};function Vs(r){return JSON.stringify(r)!==JSON.stringify($t)&&($t=r),$t}var xt=class extends w{static{this.properties={session:{state:!0},failure:{state:!0},path:{state:!0},isBusy:{state:!0}}}static{this.styles=[_,Ae,b`
:host { display: flex; flex-direction: column; height: 100vh; height: 100dvh; background: var(--bg); }
.bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; padding: 8px 14px; border-bottom: 1px solid var(--border); }
.bar h1 { margin: 0 auto 0 0; font-size: 1.1em; font-weight: 600; } .bar h1 a { color: inherit; text-decoration: none; }
.bar .test { background: var(--warn-bg); color: var(--warn); padding: 3px 10px; border-radius: 12px; }
.main { display: flex; flex: 1; min-height: 0; }
nav { flex: 0 0 178px; display: flex; flex-direction: column; gap: 1px; padding: 10px 8px; border-inline-end: 1px solid var(--border); background: var(--surface); overflow: auto; }
nav a { padding: 6px 10px; border-radius: var(--radius); color: inherit; text-decoration: none; white-space: nowrap; }
nav a:hover { background: var(--selected); } nav a[aria-current] { background: var(--selected); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
.content { flex: 1; min-width: 0; min-height: 0; overflow: auto; display: flex; flex-direction: column; }
.content > * { flex: 1; } audit-log-viewer { --audit-height: auto; min-height: 0; }
.sign-in { margin: auto; width: min(420px, calc(100vw - 32px)); padding: 24px; border: 1px solid var(--border); border-radius: 10px; background: var(--surface); }
.sign-in h1 { margin: 0 0 6px; font-size: 1.3em; } .sign-in label { display: flex; flex-direction: column; gap: 4px; margin: 14px 0; }
@media (max-width: 720px) {
.main { flex-direction: column; }
nav { flex: none; flex-direction: row; border-inline-end: 0; border-bottom: 1px solid var(--border); padding: 4px 8px; }
nav a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
}
`]}constructor(){super(),this.path=this.pathOfHash(),this.isBusy=!1,addEventListener("hashchange",()=>{this.path=this.pathOfHash(),this.requestUpdate()})}pathOfHash(){let i=location.hash.replace(/^#\//,"").split("?")[0]??"";return Ge.some(e=>e.path===i)?i:"overview"}async signIn(i){i.preventDefault();let e=i.target.elements.namedItem("key"),t=e.value.trim();e.value="",this.isBusy=!0,this.failure=void 0;try{this.session=await this.open(t)}catch(s){this.failure=x(s)}finally{this.isBusy=!1}}async open(i){let e=new D({baseUrl:"",credential:i}),t=n=>{this.session=void 0,this.failure=n};if(!i.startsWith("mk_")){let{keys:n}=await e.get("/keys"),o=n[0]&&{id:n[0].project_id,name:"",created_at:""};return new me(i,[],o,i.startsWith("pk_test_")?"test":"live",t)}let{projects:s}=await e.get("/projects");return new me(i,s,s[0],"live",t)}onProject(i){let e=i.target.value;this.session=this.session?.with({project:this.session.projects.find(t=>t.id===e)})}onCreated(i){let{session:e}=this;e&&(this.session=e.with({projects:[...e.projects,i.detail],project:i.detail}))}render(){return this.session?this.workspace(this.session):this.signInForm()}signInForm(){let{failure:i}=this;return l`<form class="sign-in" @submit=${this.signIn}>
<h1>Audit log console</h1>
<p class="muted">Sign in with a master key or a project key. The key stays in this page: reloading or closing it signs you out.</p>
${i?l`<p class="notice bad" role="alert">${i.message}</p>`:h}
      <label>Key<input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="mk_… or pk_…" autofocus /></label>
      <button class="primary" ?disabled=${this.isBusy}>${this.isBusy?"Signing in …":"Sign in"}</button>
    </form>`}workspace(i){let e=Ge.find(({path:a})=>a===this.path)??Ge[0];document.title=`${e?.label??""} · Audit log`;let{isMaster:t,projects:s,project:n,environment:o}=i;return l`
<header class="bar">
<h1><a href="#/overview">Audit log</a></h1>
${o==="test"?l`<span class="test">test environment</span>`:h}
        ${t?l`<select aria-label="Project" @change=${this.onProject}>${s.map(({id:a,name:d})=>l`<option value=${a} .selected=${a===n?.id}>${d}</option>`)}</select>
              <select aria-label="Environment" @change=${a=>this.session=i.with({environment:a.target.value})}>
                ${["live","test"].map(a=>l`<option .selected=${a===o}>${a}</option>`)}
              </select>`:l`<span class="muted">project key</span>`}
        <button @click=${()=>this.session=void 0}>Sign out</button>
      </header>
      <div class="main">
        <nav aria-label="Console">${Ge.map(({path:a,label:d})=>l`<a href="#/${a}" aria-current=${a===e?.path?"page":h}>${d}</a>`)}</nav>
        <div class="content" @project-created=${this.onCreated}>${e?.content(i)}</div>
      </div>
    `}};_i();var Js=[["console-overview",Ve],["console-alerts",He],["console-rules",Ue],["console-webhooks",Ke],["console-redaction",Je],["console-tiers",We],["console-keys",ze],["console-streams",qe],["console-log",Be],["console-page",xt]];for(let[r,i]of Js)customElements.define(r,i);document.querySelector("#app")?.append(document.createElement("console-page"));
